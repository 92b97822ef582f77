/* Error texts. A text may quote hostile input, which the logger and the RPC layer escape; here it
 * is only cut at the fixed size. */
#include "common/error.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char cut_mark[] = "...";

/* vsnprintf into the space after `at`; a text that does not fit ends in "...". */
static size_t _printf_(3, 0) put(char *text, size_t at, const char *fmt, va_list ap)
{
    int n = vsnprintf(text + at, SV_ERROR_TEXT_MAX - at, fmt, ap);

    if (n < 0) {
        text[at] = '\0';
        return at;
    }
    if ((size_t)n < SV_ERROR_TEXT_MAX - at)
        return at + (size_t)n;
    memcpy(text + SV_ERROR_TEXT_MAX - sizeof(cut_mark), cut_mark, sizeof(cut_mark));
    return SV_ERROR_TEXT_MAX - 1;
}

static size_t _printf_(3, 4) putf(char *text, size_t at, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    at = put(text, at, fmt, ap);
    va_end(ap);
    return at;
}

int sv_error_set(struct sv_error *err, int code, const char *fmt, ...)
{
    char text[SV_ERROR_TEXT_MAX]; /* the arguments may point into err->text */
    va_list ap;

    assert(code < 0);
    if (!err)
        return code;
    va_start(ap, fmt);
    (void)put(text, 0, fmt, ap);
    va_end(ap);
    memcpy(err->text, text, sizeof(text));
    err->code = code;
    return code;
}

int sv_error_errno(struct sv_error *err, int code, const char *fmt, ...)
{
    char text[SV_ERROR_TEXT_MAX];
    va_list ap;
    size_t at;

    assert(code < 0);
    if (!err)
        return code;
    va_start(ap, fmt);
    at = put(text, 0, fmt, ap);
    va_end(ap);
    if (at < SV_ERROR_TEXT_MAX - 1) {
        const char *why = strerrordesc_np(-code);

        if (why)
            (void)putf(text, at, ": %s", why);
        else
            (void)putf(text, at, ": error %d", -code);
    }
    memcpy(err->text, text, sizeof(text));
    err->code = code;
    return code;
}

int sv_error_wrap(struct sv_error *err, const char *fmt, ...)
{
    char text[SV_ERROR_TEXT_MAX];
    va_list ap;
    size_t at;

    if (!err)
        return -EIO;
    va_start(ap, fmt);
    at = put(text, 0, fmt, ap);
    va_end(ap);
    if (at < SV_ERROR_TEXT_MAX - 1 && err->text[0])
        (void)putf(text, at, ": %s", err->text);
    memcpy(err->text, text, sizeof(text));
    return err->code ? err->code : -EIO;
}
