/* See findings.h. */
#include "gss/findings.h"

#include <stdarg.h>
#include <stdio.h>

#include "gss/protocol.h"

void sgss_find(enum sgss_finding state, const char *area, const char *remedy, const char *fmt, ...)
{
    static const char *const states[] = {
        [SGSS_FINE] = "ok", [SGSS_NOTE] = "note", [SGSS_WEAK] = "weak", [SGSS_BAD] = "bad"
    };
    char text[SGSS_WORDS_MAX + 1], printable[SGSS_WORDS_MAX + 1], action[SGSS_WORDS_MAX + 1];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    sgss_words(printable, text);
    sgss_words(action, remedy ? remedy : "");
    printf("%s\t%s\t%s\t%s\n", states[state], area, printable, action);
    (void)fflush(stdout); /* a reader that has gone needs no line, ignoring */
}
