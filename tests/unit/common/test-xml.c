/* Tests common/xml.c: the order of events, limits, and rejected input. Its use by conf-xml.c is
 * tested in test-conf.c. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/str.h"
#include "common/xml.h"

struct seen {
    char text[512]; /* every event, in order */
    const char *refuse;
};

static struct sv_error err;

static void note(struct seen *s, const char *what, size_t n)
{
    size_t used = strlen(s->text);

    assert_true(used + n < sizeof(s->text));
    memcpy(s->text + used, what, n);
    s->text[used + n] = '\0';
}

static void on_start(struct sv_xml *x, const char *name, const char **attributes, void *userdata)
{
    struct seen *s = userdata;
    char line[64];

    (void)snprintf(line, sizeof(line), "(%d:%d:%s", sv_xml_line(x), sv_xml_depth(x), name);
    note(s, line, strlen(line));
    for (; attributes[0]; attributes += 2) {
        (void)snprintf(line, sizeof(line), " %s=%s", attributes[0], attributes[1]);
        note(s, line, strlen(line));
    }
    if (s->refuse && sv_streq(name, s->refuse)) {
        sv_xml_refuse(x, -E2BIG, sv_xml_line(x), "<%s> is refused", name);
        sv_xml_refuse(x, -EPERM, 1, "another reason");
        assert_true(sv_xml_refused(x));
    }
}

static void on_end(struct sv_xml *x, const char *name, void *userdata)
{
    (void)x;
    (void)name;
    note(userdata, ")", 1);
}

static void on_text(struct sv_xml *x, const char *s, size_t n, void *userdata)
{
    (void)x;
    note(userdata, s, n);
}

static int parse(const char *xml, struct seen *s, bool ignore_doctype, int max_depth)
{
    const struct sv_xml_events events = { .max_depth = max_depth,
                                          .ignore_doctype = ignore_doctype,
                                          .start = on_start,
                                          .end = on_end,
                                          .text = on_text };

    err = (struct sv_error){ 0 };
    s->text[0] = '\0';
    return sv_xml_parse(xml, strlen(xml), "t.xml", &events, s, &err);
}

static void test_events(void **state)
{
    struct seen s = { 0 };

    (void)state;
    assert_int_equal(
        parse("<a>\n<q:b c='1&amp;&#65;'/>x<![CDATA[<&]]><!-- n -->&lt;</a>", &s, false, 0), 0);
    assert_string_equal(s.text, "(1:1:a\n(2:2:q:b c=1&A)x<&<)");
    assert_int_equal(parse("<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>", &s, false, 0),
                     0);
    assert_string_equal(s.text, "(1:1:a\xc3\xa9)");
}

/* Nothing follows the event that refuses, not even the end of an empty element. */
static void test_refusal(void **state)
{
    struct seen s = { .refuse = "b" };

    (void)state;
    assert_int_equal(parse("<a>\n<b/>x</a>", &s, false, 0), -E2BIG);
    assert_string_equal(s.text, "(1:1:a\n(2:2:b");
    assert_string_equal(err.text, "t.xml:2: <b> is refused");
    assert_int_equal(parse("<a><c><b/></c></a>", &s, false, 2), -EINVAL);
    assert_string_equal(s.text, "(1:1:a(1:2:c");
    assert_string_equal(err.text, "t.xml:1: <b>: elements are nested deeper than 2");
}

static void test_doctype(void **state)
{
    const char *plain = "<!DOCTYPE a SYSTEM 'file:///etc/passwd'>\n<a>x</a>";
    const char *entity = "<!DOCTYPE a [\n<!ENTITY e 'ha'>]><a>&e;</a>";
    const char *bomb = "<!DOCTYPE a [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]><a>&b;</a>";
    const char *parameter = "<!DOCTYPE a [<!ENTITY % p SYSTEM 'http://127.0.0.1:1/'> %p;]><a/>";
    const char *const all[] = { plain, entity, bomb, parameter };
    struct seen s = { 0 };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(all); i++) {
        assert_int_equal(parse(all[i], &s, false, 0), -EINVAL);
        assert_string_equal(err.text,
                            "t.xml:1: a DOCTYPE is refused: entities are not read; remove it");
        assert_string_equal(s.text, "");
    }
    assert_int_equal(parse(plain, &s, true, 0), 0);
    assert_string_equal(s.text, "(2:1:ax)");
    for (size_t i = 1; i < SV_ARRAY_LEN(all); i++) {
        assert_int_equal(parse(all[i], &s, true, 0), -EINVAL);
        assert_non_null(strstr(err.text, "the entity "));
        assert_string_equal(s.text, "");
    }
    assert_int_equal(parse(entity, &s, true, 0), -EINVAL);
    assert_string_equal(err.text, "t.xml:2: the entity e is refused: write its text");
}

static void test_not_xml(void **state)
{
    static const char *const bad[] = { "",           " ",           "x",
                                       "<a>",        "<a></b>",     "<a/><b/>",
                                       "<a>&x;</a>", "<a>\xff</a>", "<a b='1' b='2'/>",
                                       "<a>\x01</a>" };
    struct seen s = { 0 };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        assert_int_equal(parse(bad[i], &s, true, 0), -EINVAL);
        assert_non_null(strstr(err.text, "t.xml:1: not well-formed XML: "));
    }
    assert_int_equal(parse("<?xml version='1.0' encoding='KOI8-R'?><a/>", &s, false, 0), -EINVAL);
    assert_non_null(strstr(err.text, "write it in UTF-8"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_refusal),
        cmocka_unit_test(test_doctype),
        cmocka_unit_test(test_not_xml),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
