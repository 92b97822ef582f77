/* XML as events, by expat: no file is read or fetched, no entities exist except XML's own five, and
 * nesting has a limit. Names are as written, with their prefix; line numbers are for messages. */
#ifndef SELVEDGE_COMMON_XML_H
#define SELVEDGE_COMMON_XML_H

#include "common/base.h"
#include "common/error.h"

#define SV_XML_MAX_DEPTH 64
#define SV_XML_MAX_BYTES ((size_t)16 << 20)

/* A running parse; valid only within its events. */
struct sv_xml;

struct sv_xml_events {
    int max_depth;       /* 0: SV_XML_MAX_DEPTH */
    bool ignore_doctype; /* else a DOCTYPE is an error; an entity declaration always is */
    /* `attributes`: name, value, …, NULL. The root's depth is 1. */
    void (*start)(struct sv_xml *x, const char *name, const char **attributes, void *userdata);
    void (*end)(struct sv_xml *x, const char *name, void *userdata);
    /* `s` is a part of the text, not NUL-terminated. NULL: ignored. */
    void (*text)(struct sv_xml *x, const char *s, size_t n, void *userdata);
};

/* -EINVAL: not well-formed XML or refused; -EFBIG; the code of sv_xml_refuse. The error's text
 * begins with "SOURCE:LINE: ". */
int sv_xml_parse(const char *xml, size_t len, const char *source,
                 const struct sv_xml_events *events, void *userdata, struct sv_error *err)
    _must_use_;

int sv_xml_depth(const struct sv_xml *x); /* of the current element */
int sv_xml_line(const struct sv_xml *x);
bool sv_xml_refused(const struct sv_xml *x);

/* Ends the parse with -errno `code`: no event follows. The first reason is kept. */
void sv_xml_refuse(struct sv_xml *x, int code, int line, const char *fmt, ...) _printf_(4, 5);

#endif
