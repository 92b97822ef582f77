/* See xml.h. The text is hostile: jobs bring configuration files of their own. The parser gets it
 * in one piece: in pieces, expat would restart at a long name or comment with each further
 * piece. */
#include "common/xml.h"

#include <errno.h>
#include <expat.h>
#include <stdarg.h>
#include <stdio.h>

struct sv_xml {
    XML_Parser parser;
    const struct sv_xml_events *events;
    void *userdata;
    const char *source;
    struct sv_error *err;
    int result;
    int depth; /* elements open */
    int max_depth;
};

int sv_xml_depth(const struct sv_xml *x)
{
    return x->depth;
}

int sv_xml_line(const struct sv_xml *x)
{
    return (int)XML_GetCurrentLineNumber(x->parser);
}

bool sv_xml_refused(const struct sv_xml *x)
{
    return x->result < 0;
}

void sv_xml_refuse(struct sv_xml *x, int code, int line, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    if (x->result < 0)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    x->result = sv_error_set(x->err, code, "%s:%d: %s", x->source, line, text);
    (void)XML_StopParser(x->parser, XML_FALSE); /* fails if already stopped, ignoring */
}

/* ---- expat's callbacks; one more may be called after the parser was stopped ---- */

static void on_start(void *userdata, const char *name, const char **attributes)
{
    struct sv_xml *x = userdata;

    if (x->result < 0)
        return;
    if (++x->depth > x->max_depth)
        sv_xml_refuse(x, -EINVAL, sv_xml_line(x), "<%s>: elements are nested deeper than %d", name,
                      x->max_depth);
    else
        x->events->start(x, name, attributes, x->userdata);
}

static void on_end(void *userdata, const char *name)
{
    struct sv_xml *x = userdata;

    if (x->result < 0)
        return;
    x->events->end(x, name, x->userdata);
    x->depth--;
}

static void on_text(void *userdata, const char *s, int n)
{
    struct sv_xml *x = userdata;

    if (x->result == 0 && x->events->text)
        x->events->text(x, s, (size_t)n, x->userdata);
}

/* Called before the declarations within are read. */
static void on_doctype(void *userdata, const char *name, const char *system, const char *public,
                       int declarations)
{
    struct sv_xml *x = userdata;

    (void)name;
    (void)system;
    (void)public;
    (void)declarations;
    if (!x->events->ignore_doctype)
        sv_xml_refuse(x, -EINVAL, sv_xml_line(x),
                      "a DOCTYPE is refused: entities are not read; remove it");
}

static void on_entity(void *userdata, const char *name, int parameter, const char *value, int n,
                      const char *base, const char *system, const char *public,
                      const char *notation)
{
    struct sv_xml *x = userdata;

    (void)parameter;
    (void)value;
    (void)n;
    (void)base;
    (void)system;
    (void)public;
    (void)notation;
    sv_xml_refuse(x, -EINVAL, sv_xml_line(x), "the entity %.64s is refused: write its text", name);
}

static int parser_error(struct sv_xml *x)
{
    const enum XML_Error error = XML_GetErrorCode(x->parser);

    if (x->result < 0)
        return x->result;
    if (error == XML_ERROR_NO_MEMORY)
        return sv_error_set(x->err, -ENOMEM, "%s: out of memory", x->source);
    return sv_error_set(x->err, -EINVAL, "%s:%d: not well-formed XML: %s%s", x->source,
                        sv_xml_line(x), XML_ErrorString(error),
                        error == XML_ERROR_UNKNOWN_ENCODING ? "; write it in UTF-8" : "");
}

int sv_xml_parse(const char *xml, size_t len, const char *source,
                 const struct sv_xml_events *events, void *userdata, struct sv_error *err)
{
    struct sv_xml x = {
        .events = events,
        .userdata = userdata,
        .source = source,
        .err = err,
        .max_depth = events->max_depth ? events->max_depth : SV_XML_MAX_DEPTH,
    };
    int r = 0;

    if (len > SV_XML_MAX_BYTES)
        return sv_error_set(err, -EFBIG, "%s: larger than %zu MiB", source, SV_XML_MAX_BYTES >> 20);
    x.parser = XML_ParserCreate(NULL);
    if (!x.parser)
        return sv_error_set(err, -ENOMEM, "%s: out of memory", source);
    XML_SetUserData(x.parser, &x);
    XML_SetElementHandler(x.parser, on_start, on_end);
    XML_SetCharacterDataHandler(x.parser, on_text);
    XML_SetStartDoctypeDeclHandler(x.parser, on_doctype);
    XML_SetEntityDeclHandler(x.parser, on_entity);
    if (XML_Parse(x.parser, xml, (int)len, XML_TRUE) != XML_STATUS_OK || x.result < 0)
        r = parser_error(&x);
    XML_ParserFree(x.parser);
    return r;
}
