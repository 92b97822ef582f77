/* setuid-helper/connect-rules.c and connect-code.c: the lists are parsed strictly, and the programs
 * decide by the lists. An evaluator of the instructions in use runs the programs; the kernel runs
 * them in tests/integration/setuid-helper/test-connect-filter. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "setuid-helper/prepare.h"

_Noreturn void hlp_fail(enum exe_status status, int error, const char *what)
{
    (void)fprintf(stderr, "hlp_fail %d %d %s\n", status, error, what);
    abort();
}

static struct hlp_connect *rules;
static struct hlp_code *code;

/* One run: 1 allowed, 0 refused. Fails on everything that the kernel's verifier would refuse. */
static int run(struct bpf_sock_addr *context)
{
    uint64_t r[11] = { 0 };
    bool set[11] = { [1] = true };
    for (unsigned at = 0; at < code->n; at++) {
        const struct bpf_insn *i = &code->v[at];
        const int64_t imm = i->imm;
        uint32_t *field = (uint32_t *)(void *)((char *)context + i->off);
        assert_true(i->dst_reg < 10);
        switch (i->code) {
        case BPF_LDX | BPF_MEM | BPF_W:
            assert_true(i->src_reg == 1 && i->off >= 0 && i->off % 4 == 0);
            r[i->dst_reg] = *field;
            set[i->dst_reg] = true;
            continue;
        case BPF_STX | BPF_MEM | BPF_W:
            assert_true(i->dst_reg == 1 && set[i->src_reg]);
            *field = (uint32_t)r[i->src_reg];
            continue;
        case BPF_ALU | BPF_MOV | BPF_X:
            assert_true(set[i->src_reg]);
            r[i->dst_reg] = (uint32_t)r[i->src_reg];
            set[i->dst_reg] = true;
            continue;
        case BPF_ALU | BPF_MOV | BPF_K:
            r[i->dst_reg] = (uint32_t)imm;
            set[i->dst_reg] = true;
            continue;
        case BPF_ALU64 | BPF_MOV | BPF_K:
            r[i->dst_reg] = (uint64_t)imm;
            set[i->dst_reg] = true;
            continue;
        case BPF_ALU | BPF_AND | BPF_K:
            assert_true(set[i->dst_reg]);
            r[i->dst_reg] = (uint32_t)r[i->dst_reg] & (uint32_t)imm;
            continue;
        case BPF_JMP32 | BPF_JEQ | BPF_K:
        case BPF_JMP32 | BPF_JNE | BPF_K:
            assert_true(set[i->dst_reg] && i->off >= 0 && at + 1 + (unsigned)i->off < code->n);
            if (((uint32_t)r[i->dst_reg] == (uint32_t)imm) == (BPF_OP(i->code) == BPF_JEQ))
                at += (unsigned)i->off;
            continue;
        case BPF_JMP | BPF_EXIT:
            assert_true(set[0] && r[0] <= 1);
            return (int)r[0];
        default:
            fail_msg("instruction %u: 0x%02x", at, i->code);
        }
    }
    fail_msg("no end");
    return -1;
}

/* The kernel refuses a program of which an instruction cannot be reached. */
static void all_reachable(void)
{
    bool *reached = calloc(code->n, sizeof(*reached));
    reached[0] = true;
    for (unsigned at = 0; at < code->n; at++) {
        assert_true(reached[at]);
        const unsigned char c = code->v[at].code;
        if (c == (BPF_JMP | BPF_EXIT))
            continue;
        assert_true(at + 1 < code->n);
        reached[at + 1] = true;
        if (BPF_CLASS(c) == BPF_JMP32)
            reached[at + 1 + (unsigned)code->v[at].off] = true;
    }
    free(reached);
}

static struct bpf_sock_addr last; /* as the program has left it */

static bool allowed(const char *address, unsigned port)
{
    const bool v6 = strchr(address, ':') != NULL;
    memset(&last, 0xa5, sizeof(last)); /* fields that a program of one family must not read */
    last.user_port = htons((uint16_t)port);
    assert_int_equal(inet_pton(v6 ? AF_INET6 : AF_INET, address,
                               v6 ? (void *)last.user_ip6 : (void *)&last.user_ip4),
                     1);
    hlp_connect_code(rules, v6, code);
    all_reachable();
    return run(&last);
}

static void with(const char *ports, const char *refused, const char *exceptions)
{
    memset(rules, 0, sizeof(*rules));
    assert_null(ports ? hlp_connect_ports(&rules->ports, ports) : NULL);
    assert_null(refused ? hlp_connect_networks(&rules->refused, refused) : NULL);
    assert_null(exceptions ? hlp_connect_networks(&rules->allowed, exceptions) : NULL);
    assert_null(hlp_connect_defaults(rules));
}

static void test_defaults(void **state)
{
    static const char *const credentials[] = {
        "169.254.169.254", "169.254.170.2",   "169.254.170.23",  "169.254.0.23",
        "169.254.42.42",   "100.100.100.200", "192.0.0.192",     "fd00:ec2::254",
        "fd00:ec2::23",    "fd20:ce::254",    "fe80::a9fe:a9fe", "fd00:42::42"
    };
    static const unsigned open[] = { 1, 22, 80, 443, 8020, 8030, 8032, 8041, 8042, 8088, 65535 };
    char mapped[64];
    (void)state;
    with(NULL, NULL, NULL);
    for (size_t i = 0; i < sizeof(credentials) / sizeof(credentials[0]); i++) {
        assert_false(allowed(credentials[i], 80));
        assert_false(allowed(credentials[i], 443));
        if (!strchr(credentials[i], ':')) {
            (void)snprintf(mapped, sizeof(mapped), "::ffff:%s", credentials[i]);
            assert_false(allowed(mapped, 80));
        }
    }
    assert_true(allowed("169.254.169.254", 53) && allowed("::ffff:169.254.169.253", 53));
    assert_false(allowed("168.63.129.16", 80) || allowed("168.63.129.16", 32526));
    assert_true(allowed("168.63.129.16", 53));
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
        assert_true(allowed("127.0.0.1", open[i]) && allowed("::1", open[i]) &&
                    allowed("10.1.2.3", open[i]) && allowed("::ffff:10.1.2.3", open[i]) &&
                    allowed("255.255.255.255", open[i]) && allowed("fe80::1", open[i]));
    for (unsigned port = 8031; port <= 8033; port += 2)
        assert_false(allowed("127.0.0.1", port) || allowed("::1", port) || allowed("::", port) ||
                     allowed("0.0.0.0", port) || allowed("::ffff:10.1.2.3", port) ||
                     allowed("203.0.113.9", port) || allowed("2001:db8::1", port) ||
                     allowed("169.254.1.1", port));
}

static void test_this_machine(void **state)
{
    (void)state;
    with("", "127.0.0.0/8:5432,[::1]:5432", "");
    assert_false(allowed("0.0.0.0", 5432) || allowed("::", 5432) ||
                 allowed("::ffff:0.0.0.0", 5432));
    assert_false(allowed("127.9.9.9", 5432) || allowed("::1", 5432) ||
                 allowed("::ffff:127.0.0.1", 5432));
    assert_true(allowed("0.0.0.0", 5433));
    assert_int_equal(last.user_ip4, htonl(INADDR_LOOPBACK)); /* it goes where it was judged */
    assert_true(allowed("::", 5433));
    assert_true(last.user_ip6[0] == 0 && last.user_ip6[1] == 0 && last.user_ip6[2] == 0 &&
                last.user_ip6[3] == htonl(1));
    assert_true(allowed("::ffff:0.0.0.0", 5433));
    assert_true(last.user_ip6[2] == htonl(0xffff) && last.user_ip6[3] == htonl(INADDR_LOOPBACK));
    assert_true(allowed("10.0.0.1", 5432));
    assert_int_equal(last.user_ip4, htonl(0x0a000001));
    assert_true(allowed("::2", 5432) && allowed("::1:0:0", 5432) && allowed("1::", 5432));
}

static void test_prefixes(void **state)
{
    (void)state;
    with("",
         "10.0.0.0/8,192.168.4.0/22,200.1.2.3,240.0.0.0/4:9,2001:db8::/33,[fd12:3456:789a::/48]:22,"
         "fe80::/10",
         "10.1.2.3:443,2001:db8:1::/48");
    assert_false(allowed("10.255.0.1", 1) || allowed("192.168.7.255", 1) ||
                 allowed("200.1.2.3", 1));
    assert_true(allowed("11.0.0.1", 1) && allowed("192.168.8.0", 1) && allowed("200.1.2.2", 1));
    assert_true(allowed("10.1.2.3", 443) && !allowed("10.1.2.3", 80) && !allowed("10.1.2.4", 443));
    assert_true(allowed("241.0.0.1", 8) && !allowed("241.0.0.1", 9));
    assert_false(allowed("2001:db8:7fff::1", 1) || allowed("2001:db8::", 1));
    assert_true(allowed("2001:db8:8000::", 1) && allowed("2001:db8:1:ffff::1", 1));
    assert_true(allowed("fd12:3456:789a:1::1", 21) && !allowed("fd12:3456:789a:1::1", 22) &&
                allowed("fd12:3456:789b::1", 22));
    assert_false(allowed("febf::1", 1));
    assert_true(allowed("fec0::1", 1));
    /* Everything but: all that is there is refused. */
    with("8031", "0.0.0.0/0,::/0", "127.0.0.0/8,[::1]:80");
    assert_true(allowed("127.0.0.1", 5) && allowed("0.0.0.0", 5) && allowed("::1", 80) &&
                allowed("::", 80) && allowed("::ffff:127.0.0.1", 5));
    assert_false(allowed("8.8.8.8", 53) || allowed("::1", 81) || allowed("2001::1", 1) ||
                 allowed("::ffff:8.8.8.8", 5) || allowed("127.0.0.1", 8031));
    with("", "", "");
    assert_true(allowed("169.254.169.254", 80) && allowed("::1", 8031));
}

/* A second implementation of the list's text. */
static bool expected(const uint8_t a[16], bool v6, unsigned port)
{
    const struct hlp_networks *lists[2] = { &rules->allowed, &rules->refused };
    for (unsigned i = 0; i < rules->ports.n; i++)
        if (rules->ports.v[i] == port)
            return false;
    for (int k = 0; k < 2; k++)
        for (unsigned i = 0; i < lists[k]->n; i++) {
            const struct hlp_network *n = &lists[k]->v[i];
            unsigned bit = 0;
            while (bit < n->prefix && !((a[bit / 8] ^ n->address[bit / 8]) >> (7 - bit % 8) & 1))
                bit++;
            if (n->v6 == v6 && bit == n->prefix && (n->port == 0 || n->port == port))
                return k == 0;
        }
    return true;
}

/* Full lists of networks that meet often, and addresses at their edges. */
static void test_full_lists(void **state)
{
    static char ports[8 * HLP_CONNECT_MAX], list[2][48 * HLP_CONNECT_MAX];
    unsigned seed = 7, decided[2] = { 0 };
    (void)state;
    for (int round = 0; round < 20; round++) {
        size_t n = 0, m[2] = { 0 };
        for (unsigned i = 0; i < HLP_CONNECT_MAX; i++) {
            n += (size_t)snprintf(ports + n, sizeof(ports) - n, "%s%u", i ? "," : "", 1000 + i);
            for (int k = 0; k < 2; k++) {
                char *to = list[k] + m[k];
                const size_t room = sizeof(list[k]) - m[k];
                const unsigned x = (unsigned)rand_r(&seed);
                m[k] += (size_t)(x & 1 ? snprintf(to, room, "%s%u.%u.0.0/%u:%u", i ? "," : "",
                                                  192 + x / 2 % 4, x / 8 % 4, 15 + x / 32 % 2 + 1,
                                                  1 + x / 64 % 4)
                                       : snprintf(to, room, "%s[fd0%x:%x::]:%u", i ? "," : "",
                                                  x / 2 % 4, x / 8 % 4, 1 + x / 64 % 4));
            }
        }
        with(ports, list[0], list[1]);
        for (int i = 0; i < 400; i++) {
            const unsigned x = (unsigned)rand_r(&seed), port = i % 40 ? 1 + x % 5 : 1000 + x % 70;
            char text[64];
            uint8_t a[16] = { 0 };
            const bool v6 = x / 8 & 1;
            (void)snprintf(text, sizeof(text), v6 ? "fd0%x:%x::" : "%u.%u.0.9",
                           v6 ? x / 16 % 4 : 192 + x / 16 % 4, x / 64 % 5);
            assert_int_equal(inet_pton(v6 ? AF_INET6 : AF_INET, text, a), 1);
            const bool want = expected(a, v6, port);
            assert_int_equal(allowed(text, port), want);
            decided[want]++;
        }
    }
    assert_true(decided[0] > 500 && decided[1] > 500);
    assert_true(code->n < HLP_CONNECT_CODE_MAX);
}

static void test_malformed(void **state)
{
    static const char *const bad_ports[] = { "0",          "65536",       "080", "+80",
                                             "80,",        ",80",         "80 ", "a",
                                             "8031,,8033", "99999999999", "-1" };
    static const char *const bad[] = {
        "10.0.0.1/8",
        "10.0.0.0/33",
        "10.0.0.0/",
        "10.0.0.0/08",
        "10.0.0",
        "10.0.0.0/8,",
        ",10.0.0.0/8",
        "10.0.0.0/8:",
        "10.0.0.0/8:0",
        "10.0.0.0/8:65536",
        "fd00::1/8",
        "fd00::/129",
        "fd00::1:80x",
        "fd00::/8:80",
        "[fd00::1",
        "[fd00::1]80",
        "[fd00::1]:",
        "[10.0.0.1]:80",
        "[]:80",
        "::ffff:1.2.3.4",
        "[::ffff:0:0]:80",
        "::ffff:0.0.0.0/96",
        "localhost",
        "localhost:80",
        "10.0.0.0-10.0.0.9",
        "01.2.3.4",
        "1.2.3.4 ",
        "fe80::1%eth0",
        "1.2.3.4:80:90",
        "[fd00::1]:80]",
        "fd00:0000:0000:0000:0000:0000:0000:0001/128:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    };
    static char many[8 * (HLP_CONNECT_MAX + 1)];
    (void)state;
    for (size_t i = 0; i < sizeof(bad_ports) / sizeof(bad_ports[0]); i++)
        if (!hlp_connect_ports(&rules->ports, bad_ports[i]))
            fail_msg("accepted: %s", bad_ports[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (!hlp_connect_networks(&rules->refused, bad[i]))
            fail_msg("accepted: %s", bad[i]);
    for (unsigned i = 0; i <= HLP_CONNECT_MAX; i++)
        (void)snprintf(many + 2 * i, 3, "%s", i == HLP_CONNECT_MAX ? "9" : "9,");
    assert_string_equal(hlp_connect_ports(&rules->ports, many), "more than 64 ports");
    for (unsigned i = 0; i <= HLP_CONNECT_MAX; i++)
        (void)snprintf(many + 3 * i, 4, "%s", i == HLP_CONNECT_MAX ? "::" : "::,");
    assert_string_equal(hlp_connect_networks(&rules->refused, many), "more than 64 networks");
    assert_null(hlp_connect_networks(&rules->refused, many + 3));
    assert_int_equal(rules->refused.n, HLP_CONNECT_MAX);
}

static int setup(void **state)
{
    (void)state;
    rules = calloc(1, sizeof(*rules));
    code = calloc(1, sizeof(*code));
    return rules && code ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    free(rules);
    free(code);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),  cmocka_unit_test(test_this_machine),
        cmocka_unit_test(test_prefixes),  cmocka_unit_test(test_full_lists),
        cmocka_unit_test(test_malformed),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
