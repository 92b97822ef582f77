/* Fuzzes the reader of the scheduler's records, and by its events the scheduler. A replay is
 * deterministic; every rejection has a reason; nothing is counted after the first difference. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rm-lite/scheduler/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct rm_replay a, b;
    struct sv_error err = { 0 };
    int r = rm_replay((const char *)data, size, &a, &err);

    MUST(r <= 0);
    if (r < 0) {
        MUST(r == -ENOMEM || err.text[0]);
        return 0;
    }
    MUST(rm_replay((const char *)data, size, &b, &err) == 0);
    MUST(a.events == b.events && a.decisions == b.decisions && a.differs == b.differs);
    MUST(a.differs == (a.what[0] != 0) && a.events <= size / 4);
    return 0;
}
