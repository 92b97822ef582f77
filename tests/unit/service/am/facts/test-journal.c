/* Tests service/am/facts/journal.c: what was printed is read back; other files are refused. */
#include "service/am/facts/journal.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

#define APP                                                                                        \
    {                                                                                              \
        1700000000000, 7                                                                           \
    }
#define HEAD "selvedge-instances 2\napplication_1700000000000_0007\n"
#define ID "container_1700000000000_0007_01_00000"

struct rows {
    struct svc_journal_head head;
    size_t n;
    char text[512];
};

static int row(void *userdata, const struct svc_journal_row *row)
{
    struct rows *r = userdata;
    char text[YARN_ID_TEXT_MAX];

    r->n++;
    (void)snprintf(r->text + strlen(r->text), sizeof(r->text) - strlen(r->text), "%s=%s%s%s;",
                   yarn_container_id_text(row->id, text), row->instance, row->new ? "+" : "",
                   row->turning ? "~" : "");
    return 0;
}

static int parse(const char *text, struct rows *ret, struct sv_error *err)
{
    *ret = (struct rows){ 0 };
    return svc_journal_parse(text, strlen(text), (struct yarn_app_id)APP, &ret->head, row, ret,
                             err);
}

static void add(struct svc_containers *c, int64_t n, const char *name, unsigned upgrade,
                bool turning)
{
    static const struct yarn_node_id node = { "n1", 8041 };
    static const struct yarn_resource resource;
    const struct yarn_container_id id = { { APP, 1 }, n };
    struct svc_container *new = svc_containers_add(c, id, &node, &resource, "n1:8042");

    assert_non_null(new);
    assert_int_equal(svc_container_name(new, name), 0);
    new->upgrade = upgrade;
    new->turning = turning;
}

static void read_back(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 20);
    static const struct yarn_node_id node = { "n1", 8041 };
    static const struct yarn_resource resource;
    const struct svc_journal_head head = { .app = APP };
    struct svc_containers c = { 0 }, expected = { 0 };
    struct rows rows;

    (void)state;
    for (int64_t i = 1; i <= 3; i++) {
        struct yarn_container_id id = { { APP, 1 }, i };
        struct svc_container *new = svc_containers_add(&c, id, &node, &resource, "n1:8042");

        assert_non_null(new);
        if (i < 3) /* the third waits for a name */
            assert_int_equal(svc_container_name(new, i == 1 ? "web-0" : "db-12"), 0);
    }
    add(&expected, 4, "web-1", 0, false); /* was not handed back yet */
    assert_int_equal(svc_journal_print(&head, &c, &expected, &b), 0);
    assert_int_equal(sv_buf_put_u8(&b, 0), 0);
    assert_string_equal((char *)b.data, HEAD ID "1 web-0\n" ID "2 db-12\n" ID "4 web-1\n");
    assert_int_equal(parse((char *)b.data, &rows, NULL), 0);
    assert_string_equal(rows.text, ID "1=web-0;" ID "2=db-12;" ID "4=web-1;");
    assert_int_equal(rows.head.upgrade, SVC_NO_UPGRADE);
    svc_containers_clear(&c);
    svc_containers_clear(&expected);
}

/* Marks are those of the upgrade that goes on. */
static void with_an_upgrade(void **state)
{
    struct svc_journal_head head = { .app = APP, .number = 3, .version = "2.0 beta" };
    struct svc_containers c = { 0 }, none = { 0 };
    struct rows rows;

    (void)state;
    add(&c, 1, "web-0", 3, false);
    add(&c, 2, "web-1", 3, true);
    add(&c, 3, "web-2", 2, false);
    for (int u = 0; u < SVC_N_UPGRADES; u++) {
        _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 20);

        head.upgrade = (enum svc_journal_upgrade)u;
        assert_int_equal(svc_journal_print(&head, &c, &none, &b), 0);
        assert_int_equal(sv_buf_put_u8(&b, 0), 0);
        assert_int_equal(parse((char *)b.data, &rows, NULL), 0);
        assert_int_equal(rows.head.upgrade, u);
        assert_string_equal(rows.head.version, u == SVC_NO_UPGRADE ? "" : "2.0 beta");
        assert_string_equal(rows.text, u == SVC_NO_UPGRADE
                                           ? ID "1=web-0;" ID "2=web-1;" ID "3=web-2;"
                                           : ID "1=web-0+;" ID "2=web-1~;" ID "3=web-2;");
    }
    svc_containers_clear(&c);
}

static void of_another_application(void **state)
{
    struct rows rows;

    (void)state;
    assert_int_equal(
        parse("selvedge-instances 2\napplication_1700000000000_0008\nupgrade express 2\n" ID
              "1 web-0\n",
              &rows, NULL),
        0);
    assert_int_equal(rows.n, 0);
    assert_int_equal(rows.head.upgrade, SVC_NO_UPGRADE);
    assert_int_equal(parse(HEAD "container_1700000000000_0008_01_000001 web-0\n", &rows, NULL), 0);
    assert_int_equal(rows.n, 0);
}

static void refused(void **state)
{
    static const char *const texts[] = {
        "",
        "selvedge-instances 2\n",
        "selvedge-instances 1\napplication_1700000000000_0007\n",
        HEAD ID "1 web-0",  /* no end */
        HEAD ID "1\n",      /* no name */
        HEAD ID "1 \n",     /* empty */
        HEAD ID "1 ../x\n", /* not a name */
        HEAD ID "1 web-0 \n",
        HEAD ID "1 web-0 old\n",
        HEAD ID "1 web-0 new \n",
        HEAD "upgrade express\n",
        HEAD "upgrade express \n",
        HEAD "upgrade soon 2\n",
        HEAD ID "1 web-0\nupgrade express 2\n", /* not in the head */
        HEAD "container_x web-0\n",
        HEAD ID "1 web-0\n\n",
        HEAD ID "1 0123456789012345678901234567890123456789012345678901234567890123\n",
    };
    struct sv_error err;
    struct rows rows;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(texts); i++) {
        err = (struct sv_error){ 0 };
        if (parse(texts[i], &rows, &err) != -EBADMSG)
            fail_msg("taken: %s", texts[i]);
        assert_non_null(strstr(err.text, "selvedge-instances:"));
    }
    assert_int_equal(svc_journal_parse(HEAD "a\0b\n", sizeof(HEAD "a\0b\n") - 1,
                                       (struct yarn_app_id)APP, &rows.head, row, &rows, NULL),
                     -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_back),
        cmocka_unit_test(with_an_upgrade),
        cmocka_unit_test(of_another_application),
        cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
