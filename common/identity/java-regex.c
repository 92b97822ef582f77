/* See java-regex.h. Backtracking, not pcre2_dfa_match(): Java takes the first alternative, and
 * groups are needed. PCRE2 counts its steps for each match from zero, a decision has many: so every
 * item of the expression has a callout, which counts for all of them. No JIT, whose limits are
 * others. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "common/identity/java-regex.h"

#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity/java-dialect.h"

#define NEST_MAX 32u
#define DEPTH_MAX 10000u
#define HEAP_KIB 4096u

struct sv_java_regex {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
    unsigned groups;
    bool ascii_only;
};

struct sv_java_regex *sv_java_regex_free(struct sv_java_regex *x)
{
    if (!x)
        return NULL;
    pcre2_match_context_free(x->context);
    pcre2_match_data_free(x->data);
    pcre2_code_free(x->code);
    free(x);
    return NULL;
}

static int on_item(pcre2_callout_block *block, void *userdata)
{
    struct sv_java_work *work = userdata;

    (void)block;
    return ++work->steps > SV_JAVA_REGEX_STEPS ? PCRE2_ERROR_MATCHLIMIT : 0;
}

static int compile(struct sv_java_regex *x, const char *text, size_t len, bool whole,
                   struct sv_error *err)
{
    const uint32_t options = PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT |
                             (whole ? PCRE2_ANCHORED | PCRE2_ENDANCHORED : 0);
    pcre2_compile_context *c = pcre2_compile_context_create(NULL);
    PCRE2_SIZE at = 0;
    char why[120] = "";
    int code = 0;

    if (!c)
        return sv_error_set(err, -ENOMEM, "out of memory");
    (void)pcre2_set_parens_nest_limit(c, NEST_MAX); /* always 0, ignoring */
    x->code = pcre2_compile((PCRE2_SPTR)text, len, options, &code, &at, c);
    pcre2_compile_context_free(c);
    if (x->code)
        return 0;
    (void)pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof(why)); /* else empty, ignoring */
    return sv_error_set(err, -EINVAL, "at byte %zu: %s", (size_t)at + 1, why);
}

static int prepare(struct sv_java_regex *x)
{
    x->data = pcre2_match_data_create_from_pattern(x->code, NULL);
    x->context = pcre2_match_context_create(NULL);
    if (!x->data || !x->context)
        return -ENOMEM;
    /* Each of them always 0, ignoring. */
    (void)pcre2_set_match_limit(x->context, SV_JAVA_REGEX_STEPS);
    (void)pcre2_set_depth_limit(x->context, DEPTH_MAX);
    (void)pcre2_set_heap_limit(x->context, HEAP_KIB);
    return 0;
}

int sv_java_regex_new(const char *text, size_t len, bool whole, struct sv_java_regex **ret,
                      struct sv_error *err)
{
    _cleanup_(sv_java_regex_freep) struct sv_java_regex *x = calloc(1, sizeof(*x));
    struct sv_java_dialect dialect;
    uint32_t groups = 0;
    int r;

    if (!x)
        return sv_error_set(err, -ENOMEM, "out of memory");
    if (len > SV_JAVA_REGEX_MAX)
        return sv_error_set(err, -EINVAL, "longer than %d bytes", SV_JAVA_REGEX_MAX);
    r = sv_java_dialect_check(text, len, &dialect, err);
    if (r >= 0)
        r = compile(x, text, len, whole, err);
    if (r < 0)
        return r;
    if (pcre2_pattern_info(x->code, PCRE2_INFO_CAPTURECOUNT, &groups) != 0 ||
        groups > SV_JAVA_REGEX_GROUPS)
        return sv_error_set(err, -EINVAL,
                            "more than %d groups: begin others with (?:", SV_JAVA_REGEX_GROUPS);
    x->groups = groups;
    x->ascii_only = dialect.ascii_only;
    if (prepare(x) < 0)
        return sv_error_set(err, -ENOMEM, "out of memory");
    *ret = SV_TAKE(x);
    return 0;
}

unsigned sv_java_regex_groups(const struct sv_java_regex *x)
{
    return x->groups;
}

static bool is_ascii(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] >= 0x80)
            return false;
    return true;
}

int sv_java_regex_find(struct sv_java_regex *x, const char *text, size_t len, size_t from,
                       struct sv_java_work *work, struct sv_java_match *ret)
{
    const PCRE2_SIZE *at;
    int r;

    if (x->ascii_only && !is_ascii(text, len))
        return -EINVAL;
    (void)pcre2_set_callout(x->context, on_item, work); /* always 0, ignoring */
    if (work->steps > SV_JAVA_REGEX_STEPS)
        return -E2BIG;
    r = pcre2_match(x->code, (PCRE2_SPTR)text, len, from, 0, x->data, x->context);
    if (r == PCRE2_ERROR_NOMATCH)
        return 0;
    if (r < 0)
        return r == PCRE2_ERROR_MATCHLIMIT || r == PCRE2_ERROR_DEPTHLIMIT ||
                       r == PCRE2_ERROR_HEAPLIMIT
                   ? -E2BIG
                   : -EINVAL;
    at = pcre2_get_ovector_pointer(x->data);
    for (size_t i = 0; ret && i <= SV_JAVA_REGEX_GROUPS; i++) {
        bool set = i < (size_t)r && at[2 * i] != PCRE2_UNSET;

        ret->start[i] = set ? at[2 * i] : SIZE_MAX;
        ret->end[i] = set ? at[2 * i + 1] : SIZE_MAX;
    }
    return 1;
}
