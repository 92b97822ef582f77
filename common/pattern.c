/* See pattern.h. On PCRE2: MapReduce sends "(?:classes/|lib/).*" by default, which
 * POSIX expressions cannot express. pcre2_dfa_match follows all alternatives at once instead of
 * backtracking; limits bound the remaining cost. The pattern is hostile. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "common/pattern.h"

#include <errno.h>
#include <pcre2.h>
#include <string.h>

#include "common/str.h"

#define STEPS_MAX 200000u /* pcre2's match limit per path */
#define HEAP_KIB 4096u
#define NEST_MAX 32u
#define WORKSPACE 4096

struct sv_pattern {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
    int workspace[WORKSPACE];
};

struct sv_pattern *sv_pattern_free(struct sv_pattern *p)
{
    if (!p)
        return NULL;
    pcre2_match_context_free(p->context);
    pcre2_match_data_free(p->data);
    pcre2_code_free(p->code);
    free(p);
    return NULL;
}
#define _cleanup_pattern_ _cleanup_(sv_pattern_freep)

static pcre2_code *compile(const char *text, int *ret_error)
{
    pcre2_compile_context *c = pcre2_compile_context_create(NULL);
    pcre2_code *code;
    PCRE2_SIZE at;

    if (!c)
        return NULL;
    (void)pcre2_set_parens_nest_limit(c, NEST_MAX);
    code = pcre2_compile((PCRE2_SPTR)text, strlen(text),
                         PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_NEVER_BACKSLASH_C |
                             PCRE2_NO_AUTO_POSSESS,
                         ret_error, &at, c);
    pcre2_compile_context_free(c);
    return code;
}

int sv_pattern_new(const char *text, struct sv_pattern **ret, struct sv_error *err)
{
    _cleanup_pattern_ struct sv_pattern *p = calloc(1, sizeof(*p));
    char shown[200], why[120] = "";
    uint32_t backref = 0;
    int code = 0;

    if (!p)
        return sv_error_set(err, -ENOMEM, "pattern: out of memory");
    sv_escape(shown, sizeof(shown), text);
    if (!text[0] || strnlen(text, SV_PATTERN_MAX + 1) > SV_PATTERN_MAX)
        return sv_error_set(err, -EINVAL, "pattern \"%s\": empty or longer than %d bytes", shown,
                            SV_PATTERN_MAX);
    p->code = compile(text, &code);
    if (!p->code) {
        (void)pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof(why));
        return sv_error_set(err, -EINVAL, "pattern \"%s\": %s", shown, why);
    }
    if (pcre2_pattern_info(p->code, PCRE2_INFO_BACKREFMAX, &backref) != 0 || backref > 0)
        return sv_error_set(err, -EINVAL, "pattern \"%s\": back references are not supported",
                            shown);
    p->data = pcre2_match_data_create(1, NULL);
    p->context = pcre2_match_context_create(NULL);
    if (!p->data || !p->context)
        return sv_error_set(err, -ENOMEM, "pattern: out of memory");
    (void)pcre2_set_match_limit(p->context, STEPS_MAX);
    (void)pcre2_set_depth_limit(p->context, NEST_MAX * 8);
    (void)pcre2_set_heap_limit(p->context, HEAP_KIB);
    *ret = SV_TAKE(p);
    return 0;
}

int sv_pattern_match(struct sv_pattern *p, const char *path)
{
    int r = pcre2_dfa_match(p->code, (PCRE2_SPTR)path, strlen(path), 0, 0, p->data, p->context,
                            p->workspace, WORKSPACE);

    if (r >= 0)
        return 1;
    return r == PCRE2_ERROR_NOMATCH ? 0 : -EFBIG;
}
