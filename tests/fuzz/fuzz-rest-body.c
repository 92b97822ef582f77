/* Fuzzes REST requests to the ResourceManager. Input: an Accept header, a newline, the JSON of a
 * submission. An accepted submission can be packed and read again; the tree as XML is within its
 * limit or rejected. */
#include <stdlib.h>
#include <string.h>

#include "common/web/json-xml.h"
#include "rm-lite/web/rest/submission-json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static void check_submission(const json_t *body)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ApplicationSubmissionContextProto *m;
    struct sv_error err = { 0 };
    uint8_t *packed;
    size_t n;

    if (!a || rm_submission_from_json(body, a, &m, &err) < 0)
        return;
    MUST(m->application_id);
    n = hadoop__yarn__application_submission_context_proto__get_packed_size(m);
    packed = malloc(n + 1);
    MUST(packed);
    hadoop__yarn__application_submission_context_proto__pack(m, packed);
    MUST(hadoop__yarn__application_submission_context_proto__unpack(sv_arena_protobuf(a), n,
                                                                    packed));
    free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_buf_ struct sv_buf xml = SV_BUF_INIT((size_t)1 << 20);
    char *text = malloc(size + 1), *rest = text, *accept;
    json_t *body;

    MUST(text);
    memcpy(text, data, size);
    text[size] = 0;
    accept = strsep(&rest, "\n");
    (void)sv_xml_accepted(accept); /* does not crash */
    body = rest ? json_loads(rest, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (json_is_object(body)) {
        check_submission(body);
        MUST(sv_json_to_xml(body, NULL, &xml) <= 0);
        MUST(!memchr(xml.data, 0, xml.len));
    }
    json_decref(body);
    free(text);
    return 0;
}
