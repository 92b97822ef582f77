/* System call filters (executor/seccomp): the generated program decides by its rules, with jumps of
 * any length; the proof that compile.c relies on finds a program that differs in one
 * instruction. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <linux/audit.h>

#include "executor/seccomp/filter.h"

#define ALLOW SECCOMP_RET_ALLOW
#define DENY (SECCOMP_RET_ERRNO | EPERM)
#define NONE (SECCOMP_RET_ERRNO | ENOSYS)
#define KILL SECCOMP_RET_KILL_PROCESS

static struct flt_policy policy;
static struct flt_program program;

static struct flt_rule *rule(int call, uint32_t action)
{
    struct flt_rule *r = &policy.v[policy.n++];
    *r = (struct flt_rule){ .call = call, .action = action };
    return r;
}

static void when(struct flt_rule *r, unsigned argument, uint64_t mask, uint64_t value)
{
    r->c[r->n++] = (struct flt_condition){ argument, mask, value };
}

static void begin(void)
{
    memset(&policy, 0, sizeof(policy));
    policy.arch = AUDIT_ARCH_X86_64;
    policy.foreign = KILL;
    policy.otherwise = NONE;
}

static uint32_t ask(uint32_t arch, uint32_t call, uint64_t a0, uint64_t a2)
{
    const struct seccomp_data d = { .nr = (int)call, .arch = arch, .args = { a0, 0, a2 } };
    return exe_filter_run(program.code + program.at, program.n, &d);
}

#define ASK(call, a0, a2) ask(AUDIT_ARCH_X86_64, (uint32_t)(call), a0, a2)

/* Evaluates the rules one by one. */
static uint32_t decide(const struct seccomp_data *d)
{
    uint32_t plain = policy.otherwise;
    if (d->arch != policy.arch || ((uint32_t)d->nr & 0x40000000 && (uint32_t)d->nr < 0x80000000))
        return policy.foreign;
    if ((uint32_t)d->nr >= 0x80000000)
        return (uint32_t)d->nr == UINT32_MAX ? policy.otherwise : policy.foreign;
    for (unsigned i = policy.n; i-- > 0;)
        if (policy.v[i].call == d->nr && policy.v[i].n == 0)
            plain = policy.v[i].action;
    for (unsigned i = 0; i < policy.n; i++) {
        const struct flt_rule *r = &policy.v[i];
        bool all = r->call == d->nr && r->n > 0;
        for (unsigned k = 0; all && k < r->n; k++)
            all = (d->args[r->c[k].argument] & r->c[k].mask) == r->c[k].value;
        if (all)
            return r->action;
    }
    return plain;
}

static void test_answers(void **state)
{
    (void)state;
    begin();
    when(rule(16, DENY), 0, UINT32_MAX, 0x5412); /* before the others of this call */
    rule(16, ALLOW);
    rule(0, ALLOW);
    rule(1, DENY);
    when(rule(41, ALLOW), 0, UINT64_MAX, 1);
    for (unsigned a2 = 0; a2 < 12; a2 += 6) {
        struct flt_rule *r = rule(41, ALLOW);
        when(r, 0, UINT64_MAX, 2);
        when(r, 2, UINT64_MAX, a2);
    }
    when(rule(56, ALLOW), 0, 0x7e020000, 0);
    assert_null(exe_filter_generate(&policy, &program));
    assert_int_equal(ASK(0, 0, 0), ALLOW);
    assert_int_equal(ASK(1, 0, 0), DENY);
    assert_int_equal(ASK(2, 0, 0), NONE);
    assert_int_equal(ASK(16, 0x5412, 0), DENY);
    assert_int_equal(ASK(16, UINT64_C(0x500005412), 0),
                     DENY); /* the kernel looks at the low half */
    assert_int_equal(ASK(16, 0x5413, 0), ALLOW);
    assert_int_equal(ASK(41, 1, 77), ALLOW);
    assert_int_equal(ASK(41, 2, 6), ALLOW);
    assert_int_equal(ASK(41, 2, 7), NONE);
    assert_int_equal(ASK(41, 2, UINT64_C(1) << 32), NONE);
    assert_int_equal(ASK(41, UINT64_C(1) << 32 | 1, 0), NONE);
    assert_int_equal(ASK(56, UINT64_C(0xffffffff81fdffff), 0), ALLOW);
    assert_int_equal(ASK(56, 0x00020000, 0), NONE);
    assert_int_equal(ASK(1023, 0, 0), NONE);
    assert_int_equal(ASK(0x3fffffff, 0, 0), NONE);
    assert_int_equal(ASK(0x40000000, 0, 0), KILL);
    assert_int_equal(ASK(0xfffffffe, 0, 0), KILL);
    assert_int_equal(ASK(0xffffffff, 0, 0), NONE);
    assert_int_equal(ask(AUDIT_ARCH_I386, 0, 0, 0), KILL);
    policy.arch = AUDIT_ARCH_AARCH64; /* which has no x32 */
    assert_null(exe_filter_generate(&policy, &program));
    assert_int_equal(ask(AUDIT_ARCH_AARCH64, 0x40000000, 0, 0), NONE);
    assert_int_equal(ask(AUDIT_ARCH_AARCH64, 0, 0, 0), ALLOW);
    assert_int_equal(ask(AUDIT_ARCH_X86_64, 0, 0, 0), KILL);
}

/* So many changes from one answer to another that no conditional jump reaches the end. */
static void test_far_jumps(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < FLT_CALLS_MAX - 1; i += 2)
        rule(i, i % 4 ? ALLOW : DENY);
    for (int i = 3; i < 400; i += 16)
        when(rule(i, ALLOW), 2, 0xf000, 0x1000);
    assert_null(exe_filter_generate(&policy, &program));
    assert_true(program.n > 1024);
    for (uint32_t nr = 0; nr < 4096; nr++)
        for (uint64_t a2 = 0; a2 < 3; a2++) {
            const struct seccomp_data d = { .nr = (int)nr,
                                            .arch = policy.arch,
                                            .args = { 0, 0, a2 << 12 } };
            assert_int_equal(exe_filter_run(program.code + program.at, program.n, &d), decide(&d));
        }
}

/* Programs without a result are rejected. */
static void test_run(void **state)
{
    const struct seccomp_data d = { .nr = 0 };
    const struct sock_filter falls[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0) },
                             beyond[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(d)) },
                             stores[] = { BPF_STMT(BPF_ST, 0), BPF_STMT(BPF_RET | BPF_K, ALLOW) };
    (void)state;
    assert_int_equal(exe_filter_run(falls, 1, &d), UINT32_MAX);
    assert_int_equal(exe_filter_run(beyond, 1, &d), UINT32_MAX);
    assert_int_equal(exe_filter_run(stores, 2, &d), UINT32_MAX);
    assert_int_equal(exe_filter_run(stores + 1, 1, &d), ALLOW);
}

/* Each instruction turned another way, one at a time: the proof sees it, or the reading of the
 * rules one by one finds no call that is answered in another way. */
static void test_proof(void **state)
{
    struct seccomp_data at;
    struct flt_program other;
    (void)state;
    begin();
    when(rule(16, DENY), 1, UINT32_MAX, 0x5412);
    rule(16, ALLOW);
    for (int i = 20; i < 30; i++)
        rule(i, i % 3 ? ALLOW : DENY);
    for (unsigned a0 = 1; a0 < 4; a0++) {
        struct flt_rule *r = rule(41, ALLOW);
        when(r, 0, UINT64_MAX, a0);
        when(r, 2, UINT64_MAX, 6 * a0);
    }
    when(rule(133, ALLOW), 1, 0xf000, 0x1000);
    when(rule(300, ALLOW), 0, 0x7e020000, 0);
    assert_null(exe_filter_generate(&policy, &program));
    const struct sock_filter *code = program.code + program.at;
    assert_true(exe_filter_equal(&policy, code, program.n, code, program.n, &at));
    for (unsigned i = 0; i < program.n; i++)
        for (int way = 0; way < 5; way++) {
            other = program;
            struct sock_filter *c = &other.code[other.at + i];
            if (way == 0)
                c->k ^= 1;
            else if (way == 1)
                c->k ^= BPF_CLASS(c->code) == BPF_LD ? 4 : 0x80000000;
            else if (way == 2 && c->jt != c->jf && BPF_CLASS(c->code) == BPF_JMP) {
                c->jt = program.code[program.at + i].jf;
                c->jf = program.code[program.at + i].jt;
            } else if (way == 3 && c->code == (BPF_JMP | BPF_JGE | BPF_K))
                c->code = BPF_JMP | BPF_JGT | BPF_K;
            else if (way == 4 && c->code == (BPF_JMP | BPF_JEQ | BPF_K))
                c->code = BPF_JMP | BPF_JSET | BPF_K;
            else
                continue;
            if (exe_filter_equal(&policy, code, program.n, other.code + other.at, program.n, &at))
                fail_msg("instruction %u of %u (%x %u %u %x), changed in way %d, is not seen", i,
                         program.n, code[i].code, code[i].jt, code[i].jf, code[i].k, way);
            assert_int_equal(exe_filter_run(code, program.n, &at), decide(&at));
        }
}

/* Unsupported rules are rejected. */
static void test_refused(void **state)
{
    (void)state;
    begin();
    when(rule(5, ALLOW), 0, UINT64_MAX, 1);
    when(rule(5, ALLOW), 1, UINT64_MAX, 1);
    assert_non_null(exe_filter_generate(&policy, &program)); /* two arguments */
    begin();
    when(rule(5, ALLOW), 0, 0xff, 0x100);
    assert_non_null(exe_filter_generate(&policy, &program)); /* never true */
    begin();
    rule(-1, ALLOW);
    assert_non_null(exe_filter_generate(&policy, &program));
    begin();
    rule(FLT_CALLS_MAX, ALLOW);
    assert_non_null(exe_filter_generate(&policy, &program));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers), cmocka_unit_test(test_far_jumps),
        cmocka_unit_test(test_run),     cmocka_unit_test(test_proof),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
