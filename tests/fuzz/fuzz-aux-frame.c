/* Fuzzes input from an auxiliary service: frames of any bytes, in two pieces. Accepted frames are
 * within their bounds, and the position of the cut does not matter. */
#include <stdlib.h>
#include <string.h>

#include "nodemanager/aux-services/aux-frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

/* Frames until the input ends or is refused. */
static unsigned take_all(struct sv_buf *b)
{
    unsigned n = 0;
    int r = 1;

    while (r > 0) {
        struct nm_aux_answer a = { 0 };
        struct sv_error err = { 0 };

        r = nm_aux_frame_take(b, &a, &err);
        MUST(r >= 0 || err.code < 0);
        MUST(r <= 0 || (a.metadata_len <= NM_AUX_METADATA_MAX &&
                        strlen(a.message) <= NM_AUX_MESSAGE_MAX && a.type <= NM_AUX_FAILED));
        MUST(a.metrics.n <= NM_AUX_METRICS_MAX);
        for (size_t i = 0; i < a.metrics.n; i++)
            MUST(a.metrics.v[i].name[0] && a.metrics.v[i].value >= 0);
        n += r > 0;
        nm_aux_answer_free(&a);
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sv_buf whole = SV_BUF_VIEW(data, size), start = SV_BUF_VIEW(data, size / 2);
    unsigned all = take_all(&whole), some = take_all(&start);

    MUST(some <= all);
    return 0;
}
