/* See hosts-xml.h. Called by nodes-list.c. */
#include "rm-lite/hosts-xml.h"

#include <errno.h>
#include <libxml/parser.h>
#include <string.h>

#include "common/str.h"

#define BLANKS " \t\r\n\f"

/* The text of an element; to be freed with xmlFree. */
static char *text_of(xmlNode *node)
{
    return (char *)xmlNodeGetContent(node);
}

static int parse_timeout(xmlNode *node, int64_t *ret_ms)
{
    char *text = text_of(node), *p = text;
    int64_t s;
    int r;

    if (!text)
        return -ENOMEM;
    p += strspn(p, BLANKS);
    p[strcspn(p, BLANKS)] = 0;
    r = sv_parse_i64(p, INT32_MIN, INT32_MAX, &s);
    xmlFree(text);
    if (r >= 0)
        *ret_ms = s < 0 ? -1 : s * 1000;
    return r;
}

static void add_names(xmlNode *node, int64_t timeout_ms, struct rm_name_set **set)
{
    char *text = text_of(node), *rest = text, *word;

    while (rest && (word = strsep(&rest, BLANKS)))
        if (*word)
            rm_set_add(set, word)->number = timeout_ms;
    xmlFree(text);
}

static int add_host(xmlNode *host, const char *path, struct rm_name_set **set, struct sv_error *err)
{
    int64_t timeout_ms = RM_NO_TIMEOUT;

    for (xmlNode *n = host->children; n; n = n->next)
        if (xmlStrcmp(n->name, (const xmlChar *)"timeout") == 0 &&
            parse_timeout(n, &timeout_ms) < 0)
            return sv_error_set(err, -EINVAL,
                                "list of nodes %s:%ld: timeout is no number of "
                                "seconds",
                                path, xmlGetLineNo(n));
    for (xmlNode *n = host->children; n; n = n->next)
        if (xmlStrcmp(n->name, (const xmlChar *)"name") == 0)
            add_names(n, timeout_ms, set);
    return 0;
}

int rm_hosts_xml(const char *text, size_t len, const char *path, struct rm_name_set **ret,
                 struct sv_error *err)
{
    struct rm_name_set *set = NULL;
    xmlDoc *doc = xmlReadMemory(text, (int)len, path, NULL,
                                XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
    int r = 0;

    if (!root)
        r = sv_error_set(err, -EINVAL, "list of nodes %s: not well-formed XML", path);
    for (xmlNode *n = root ? root->children : NULL; n && r >= 0; n = n->next)
        if (xmlStrcmp(n->name, (const xmlChar *)"host") == 0)
            r = add_host(n, path, &set, err);
    xmlFreeDoc(doc);
    if (r < 0) {
        rm_set_clear(&set);
        return r;
    }
    *ret = set;
    return 0;
}
