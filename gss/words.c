/* See words.h. */
#include "gss/words.h"

#include <gssapi/gssapi_krb5.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TEXT_MAX 400

static int _printf_(3, 0)
    say(struct sv_error *err, int code, const char *fmt, va_list ap, const char *why)
{
    char what[TEXT_MAX];

    vsnprintf(what, sizeof(what), fmt, ap);
    return sv_error_set(err, code, "%s: %s", what, why);
}

/* A clock that is wrong is found by comparing: the library does not tell the other one's time. */
static void add_clock(char *text, size_t size)
{
    size_t n = strlen(text);
    time_t now = time(NULL);
    struct tm utc;

    if (gmtime_r(&now, &utc))
        (void)strftime(text + n, size - n, " (the clock here says %F %T UTC)", &utc); /* cut */
}

int sgss_krb5_error(struct sv_error *err, int code, krb5_context k, krb5_error_code why,
                    const char *fmt, ...)
{
    const char *message = krb5_get_error_message(k, why);
    char text[TEXT_MAX];
    va_list ap;

    snprintf(text, sizeof(text), "%s", message);
    krb5_free_error_message(k, message);
    if (why == KRB5KRB_AP_ERR_SKEW)
        add_clock(text, sizeof(text));
    va_start(ap, fmt);
    code = say(err, code, fmt, ap, text);
    va_end(ap);
    return code;
}

/* The mechanism's text where it has one, else that of GSS. */
static void display(OM_uint32 status, int type, char *dst, size_t size)
{
    gss_buffer_desc text = GSS_C_EMPTY_BUFFER;
    OM_uint32 minor, more = 0;

    dst[0] = 0;
    if (gss_display_status(&minor, status, type, (gss_OID)(uintptr_t)gss_mech_krb5, &more, &text) ==
        GSS_S_COMPLETE)
        snprintf(dst, size, "%.*s", (int)SV_MIN(text.length, size - 1), (const char *)text.value);
    (void)gss_release_buffer(&minor, &text); /* always succeeds */
}

int sgss_gss_error(struct sv_error *err, int code, OM_uint32 major, OM_uint32 minor,
                   const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list ap;

    display(minor, GSS_C_MECH_CODE, text, sizeof(text));
    if (minor == 0 || !text[0])
        display(major, GSS_C_GSS_CODE, text, sizeof(text));
    if (minor == (OM_uint32)KRB5KRB_AP_ERR_SKEW)
        add_clock(text, sizeof(text));
    va_start(ap, fmt);
    code = say(err, code, fmt, ap, text);
    va_end(ap);
    return code;
}
