/* Fuzzes XML bodies of REST requests to the ResourceManager. Input: the body of a submission. The
 * result consists of texts, objects and lists only, and an accepted submission can be packed. */
#include <stdlib.h>
#include <string.h>

#include "rm-lite/web/rest/body-xml.h"
#include "rm-lite/web/rest/submission-json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static void check_tree(const json_t *value, int depth)
{
    const char *name;
    json_t *member;
    size_t i;

    MUST(depth <= RM_XML_DEPTH_MAX);
    if (json_is_object(value))
        json_object_foreach((json_t *)(uintptr_t)value, name, member)
        {
            MUST(*name && strlen(name) <= RM_XML_NAME_MAX);
            if (!json_is_array(member))
                check_tree(member, depth + 1);
            else
                for (i = 0; i < json_array_size(member); i++)
                    check_tree(json_array_get(member, i), depth + 1);
        }
    else
        MUST(json_is_string(value));
}

static void check_submission(const json_t *body)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ApplicationSubmissionContextProto *m;
    struct sv_error err = { 0 };
    uint8_t *packed;

    if (!a || rm_submission_from_json(body, a, &m, &err) < 0)
        return;
    packed = malloc(hadoop__yarn__application_submission_context_proto__get_packed_size(m) + 1);
    MUST(packed);
    hadoop__yarn__application_submission_context_proto__pack(m, packed);
    free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sv_error err = { 0 };
    json_t *body = NULL;

    if (rm_body_from_xml((const char *)data, size, "application-submission-context", &body, &err) <
        0) {
        MUST(!body && *err.text);
        return 0;
    }
    MUST(json_is_object(body));
    check_tree(body, 1);
    check_submission(body);
    json_decref(body);
    return 0;
}
