/* The reason for a failure as text: the object, what failed, what to do.
 *
 * Fallible functions return 0 or more on success and -errno on failure. Where a person needs the
 * reason they also take a `struct sv_error *` as last argument, which may be NULL. A caller that
 * passes an error up prepends its own object with sv_error_wrap(). */
#ifndef SELVEDGE_COMMON_ERROR_H
#define SELVEDGE_COMMON_ERROR_H

#include "common/base.h"

#define SV_ERROR_TEXT_MAX 1024 /* longer texts are cut, never overrun */

struct sv_error {
    int code;                     /* -errno; 0 = no error */
    char text[SV_ERROR_TEXT_MAX]; /* "object: what failed: why; remedy" without newline */
};

/* Sets code and text; returns code, so that `return sv_error_set(err, -EINVAL, …);` reads well.
 * `code` must be negative. No strerror text is added; use sv_error_errno for that. */
int sv_error_set(struct sv_error *err, int code, const char *fmt, ...) _printf_(3, 4);

/* As sv_error_set, and appends ": " + strerror(-code). */
int sv_error_errno(struct sv_error *err, int code, const char *fmt, ...) _printf_(3, 4);

/* Prepends "fmt…: " to the text; returns the code. */
int sv_error_wrap(struct sv_error *err, const char *fmt, ...) _printf_(2, 3);

#endif
