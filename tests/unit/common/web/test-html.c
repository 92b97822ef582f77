/* Tests common/web/html.c and html-text.c: every value is escaped, links are encoded, logs keep
 * their colours alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/web/html.h"

/* Returns the content of `h` as a string; frees it. */
static const char *taken(struct sv_html *h)
{
    static char text[4096];

    assert_true(h->error >= 0 && h->b.len < sizeof(text));
    memcpy(text, h->b.data ? (const char *)h->b.data : "", h->b.len);
    text[h->b.len] = 0;
    sv_buf_free(&h->b);
    return text;
}

static struct sv_html page(void)
{
    return (struct sv_html){ .b = SV_BUF_INIT(SV_HTML_MAX) };
}

static void escapes(const char *from, const char *to)
{
    struct sv_html h = page();

    sv_html(&h, "%s", from);
    assert_string_equal(taken(&h), to);
}

static void test_text(void **state)
{
    (void)state;
    escapes("<script>alert('x')</script>", "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;");
    escapes("\" onload=\"x&amp;", "&quot; onload=&quot;x&amp;amp;");
    escapes("Käse ☃ 🂡\n\t.", "Käse ☃ 🂡\n\t.");
    escapes("a\x01\x1b[31mb\x7f", "a\\x01\\x1b[31mb\\x7f");
    escapes("\xff\xc0\xaf\xed\xa0\x80\xf5\xe2\x82",
            "\\xff\\xc0\\xaf\\xed\\xa0\\x80\\xf5\\xe2\\x82");
    escapes("\xc2\x85|\xe2\x80\xae|\xe2\x80\x8b|\xef\xbb\xbf", "\\x85|\\u202e|\\u200b|\\ufeff");
}

static void test_formats(void **state)
{
    const char *volatile none = NULL;
    struct sv_html h = page();

    (void)state;
    sv_html(&h, "%d %u %lld %llu %.1f %% %s|%.3s|%.3s|%.4s", -1, 2u, -3LL, 4ULL, 0.25, none, "abc",
            "abcd", "aä☃x");
    assert_string_equal(taken(&h), "-1 2 -3 4 0.2 % |abc|abc…|aä…");
}

static void test_links(void **state)
{
    const char *query[] = { "a", "1&b=\"<2>", "none", "", "c", NULL, "d", "ü", NULL };
    struct sv_html h = page();

    (void)state;
    sv_html_href(&h, "/x y/\"><", query);
    assert_string_equal(taken(&h), " href=\"/x%20y/%22%3E%3C?a=1%26b%3D%22%3C2%3E&amp;d=%C3%BC\"");
    h = page();
    h.user = "al&ice";
    sv_html_link(&h, "/p", "<t>");
    assert_string_equal(taken(&h), "<a href=\"/p?user.name=al%26ice\">&lt;t&gt;</a>");
    h = page();
    sv_html_href_out(&h, false, "host:80/\"@evil", "node/a b");
    assert_string_equal(taken(&h), " href=\"http://host:80%2F%22%40evil/node/a%20b\"");
}

static void logs(const char *from, const char *to)
{
    struct sv_html h = page();

    sv_html_log(&h, from, strlen(from));
    assert_string_equal(taken(&h), to);
}

static void test_logs(void **state)
{
    (void)state;
    logs("\x1b[31mred\x1b[0m plain", "<span class=\"c1\">red</span> plain");
    logs("\x1b[1;92mgood", "<span class=\"c10 b\">good</span>");
    logs("\x1b[1mb\x1b[22mn\x1b[39m", "<span class=\"b\">b</span>n");
    logs("\x1b[38;5;196mx\x1b[m", "x");
    logs("a\x1b[2Jb\x1b[10;20Hc\x1b]0;title\x07"
         "d\x1b(Be",
         "abcde");
    logs("10%\r20%\r\nend\r", "10%\n20%\nend\n");
    logs("\x1b[31m<b>\x1b[", "<span class=\"c1\">&lt;b&gt;</span>");
    logs("\x1b", "");
    logs("\x1b[99999999999999999999m", "");
}

static void test_too_large(void **state)
{
    struct sv_html h = { .b = SV_BUF_INIT(100) };
    struct sv_http_response ret = { 0 };

    (void)state;
    for (int i = 0; i < 100; i++)
        sv_html(&h, "%s", "<>");
    assert_true(sv_html_end(&h, 200, &ret) < 0);
    assert_null(ret.body);
    assert_null(h.b.data);
}

static void test_words(void **state)
{
    char text[SV_HTML_WORD];

    (void)state;
    assert_string_equal(sv_html_bytes(1023, text), "1023 B");
    assert_string_equal(sv_html_bytes(1536, text), "1.5 KiB");
    assert_string_equal(sv_html_mb(2048, text), "2.0 GiB");
    assert_string_equal(sv_html_mb(INT64_MAX, text), "8192 PiB");
    assert_string_equal(sv_html_mb(-1, text), "-1 MiB");
    assert_string_equal(sv_html_span(1234, text), "1.23 s");
    assert_string_equal(sv_html_span(-5, text), "0.00 s");
    assert_string_equal(sv_html_span(3725000, text), "1h 02m");
    assert_string_equal(sv_html_time(0, text), "–");
    assert_string_equal(sv_html_time(1700000000000, text), "2023-11-14 22:13:20");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text), cmocka_unit_test(test_formats),   cmocka_unit_test(test_links),
        cmocka_unit_test(test_logs), cmocka_unit_test(test_too_large), cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests_name("html", tests, NULL, NULL);
}
