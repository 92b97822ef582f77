/* conf/node-labels.c: labels and attributes of texts and of scripts' outputs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/conf/node-labels.h"

#define LONG255                                                                                    \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
    "aaa"                                                                                          \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
    "aaa"                                                                                          \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct {
    enum nm_described kind;
    bool script;
    const char *text, *want; /* "name=value;…"; NULL: refused with `words` */
    const char *words;
} rows[] = {
    { NM_LABELS, false, NULL, "", NULL },
    { NM_LABELS, false, " \n ", "", NULL },
    { NM_LABELS, false, " gpu ", "gpu=;", NULL },
    { NM_LABELS, false, "9_a-B", "9_a-B=;", NULL },
    { NM_LABELS, false, "-gpu", NULL, "\"-gpu\": a label" },
    { NM_LABELS, false, "a b", NULL, "a label" },
    { NM_LABELS, false, "a,b", NULL, "a label" },
    { NM_LABELS, false, "a.b", NULL, "a label" },
    { NM_LABELS, false, "\x01\xff", NULL, "\\x01\\xff" },
    { NM_LABELS, false, LONG255, LONG255 "=;", NULL },
    { NM_LABELS, false, LONG255 "a", NULL, "a label" },
    { NM_LABELS, true, "", "", NULL },
    { NM_LABELS, true, "gpu\nX NODE_PARTITION:gpu\nNODE_PARTITION", "", NULL },
    { NM_LABELS, true, "begins\n  NODE_PARTITION: gpu \r\nends", "gpu=;", NULL },
    { NM_LABELS, true, "NODE_PARTITION:a\nNODE_PARTITION:b", "b=;", NULL },
    { NM_LABELS, true, "NODE_PARTITION:", NULL, "a label" },
    { NM_LABELS, true, "NODE_PARTITION:a/b", NULL, "a label" },
    { NM_ATTRIBUTES, false, "", "", NULL },
    { NM_ATTRIBUTES, false, "os,STRING,linux", "os=linux;", NULL },
    { NM_ATTRIBUTES, false, " os , STRING, linux :kernel,STRING,6.1-x", "kernel=6.1-x;os=linux;",
      NULL },
    { NM_ATTRIBUTES, false, "os,STRING,linux:os,STRING,bsd", NULL, "twice" },
    { NM_ATTRIBUTES, false, "os,STRING", NULL, "NAME,STRING,VALUE" },
    { NM_ATTRIBUTES, false, "os,STRING,", NULL, "value" },
    { NM_ATTRIBUTES, false, "os,STRING,a,b", NULL, "NAME,STRING,VALUE" },
    { NM_ATTRIBUTES, false, "os,string,a", NULL, "the type of an attribute is STRING" },
    { NM_ATTRIBUTES, false, "os,STRINGS,a", NULL, "the type of an attribute is STRING" },
    { NM_ATTRIBUTES, false, "nm.yarn.io/os,STRING,a", NULL, "no prefix" },
    { NM_ATTRIBUTES, false, "os,STRING,a/b", NULL, "value" },
    { NM_ATTRIBUTES, true, "os,STRING,linux\n", "", NULL },
    { NM_ATTRIBUTES, true, "NODE_ATTRIBUTE:b,STRING,1\nelse\n NODE_ATTRIBUTE:a,STRING,2\n",
      "a=2;b=1;", NULL },
    { NM_ATTRIBUTES, true, "NODE_ATTRIBUTE:b,STRING,1\nNODE_ATTRIBUTE:b", NULL, "NAME" },
};

static int parse(size_t i, const char *text, struct nm_labels *ret, struct sv_error *err)
{
    return rows[i].script ? nm_labels_of_output(rows[i].kind, text, ret, err)
                          : nm_labels_of_text(rows[i].kind, text, ret, err);
}

static void texts(void **state)
{
    static struct nm_labels l;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        struct sv_error err = { 0 };
        char got[1024] = "";
        int r = parse(i, rows[i].text, &l, &err);

        if (!rows[i].want) {
            if (r != -EBADMSG || !strstr(err.text, rows[i].words))
                fail_msg("row %zu: %d, \"%s\"", i, r, err.text);
            continue;
        }
        for (size_t e = 0; r >= 0 && e < l.n; e++) {
            size_t at = strlen(got);

            snprintf(got + at, sizeof(got) - at, "%s=%s;", l.list[e].name, l.list[e].value);
        }
        if (r < 0 || strcmp(got, rows[i].want) != 0)
            fail_msg("row %zu: %d, \"%s\", \"%s\"", i, r, got, err.text);
    }
}

static void bounds(void **state)
{
    static struct nm_labels l, before;
    static char text[(NM_ATTRIBUTES_MAX + 1) * 64];
    struct sv_error err = { 0 };
    size_t at = 0;

    (void)state;
    for (int i = 0; i <= NM_ATTRIBUTES_MAX; i++) {
        at += (size_t)snprintf(text + at, sizeof(text) - at, "NODE_ATTRIBUTE:a%d,STRING,v\n", i);
        if (i == NM_ATTRIBUTES_MAX - 1) {
            assert_int_equal(nm_labels_of_output(NM_ATTRIBUTES, text, &l, &err), 0);
            assert_int_equal(l.n, NM_ATTRIBUTES_MAX);
        }
    }
    before = l;
    assert_int_equal(nm_labels_of_output(NM_ATTRIBUTES, text, &l, &err), -EBADMSG);
    assert_non_null(strstr(err.text, "at most 64"));
    assert_true(nm_labels_equal(&before, &l)); /* unchanged */
    l.list[7].value[0] = 'w';
    assert_false(nm_labels_equal(&before, &l));
    l = before;
    l.n--;
    assert_false(nm_labels_equal(&before, &l));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
