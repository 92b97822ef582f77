/* Equivalence check of two filters: interpreter and comparison, run by compile.c at every build on
 * the generated program and libseccomp's. */
#include <linux/audit.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "executor/seccomp/filter.h"

#define NO_ANSWER UINT32_MAX
enum { VALUES_MAX = 8192 };

static bool jumps(const struct sock_filter *i, uint32_t a)
{
    switch (BPF_OP(i->code)) {
    case BPF_JEQ:
        return a == i->k;
    case BPF_JGT:
        return a > i->k;
    case BPF_JGE:
        return a >= i->k;
    default:
        return (a & i->k) != 0;
    }
}

uint32_t flt_run(const struct sock_filter *code, unsigned n, const struct seccomp_data *d)
{
    uint32_t a = 0;
    for (size_t at = 0; at < n; at++) {
        const struct sock_filter *i = &code[at];
        switch (i->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            if (i->k % sizeof(a) || i->k > sizeof(*d) - sizeof(a))
                return NO_ANSWER;
            memcpy(&a, (const char *)d + i->k, sizeof(a));
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            a &= i->k;
            break;
        case BPF_JMP | BPF_JA:
            at += i->k;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
        case BPF_JMP | BPF_JGT | BPF_K:
        case BPF_JMP | BPF_JGE | BPF_K:
        case BPF_JMP | BPF_JSET | BPF_K:
            at += jumps(i, a) ? i->jt : i->jf;
            break;
        case BPF_RET | BPF_K:
            return i->k;
        default:
            return NO_ANSWER;
        }
    }
    return NO_ANSWER;
}

struct pair {
    const struct flt_policy *p;
    const struct sock_filter *a, *b;
    unsigned n_a, n_b;
    struct seccomp_data d;
};

static bool same(const struct pair *x)
{
    const uint32_t a = flt_run(x->a, x->n_a, &x->d);
    return a != NO_ANSWER && a == flt_run(x->b, x->n_b, &x->d);
}

static unsigned add(uint64_t *v, unsigned n, uint64_t value)
{
    for (unsigned i = 0; i < n; i++)
        if (v[i] == value)
            return n;
    v[n] = value;
    return n + 1;
}

/* Values with which the rules of a call compare one argument, then each of them with one bit
 * flipped. */
static struct {
    uint64_t v[VALUES_MAX];
    unsigned exact, n; /* n: 0 if no rule tests the argument */
} values[6];

static void collect(const struct flt_policy *p, int call, unsigned argument)
{
    uint64_t *v = values[argument].v;
    unsigned n = 0;
    for (int turned = 0; turned < 2; turned++) {
        for (unsigned i = 0; i < p->n; i++)
            for (unsigned k = 0; p->v[i].call == call && k < p->v[i].n; k++) {
                const struct flt_condition *c = &p->v[i].c[k];
                if (c->argument != argument || n + 68 > VALUES_MAX)
                    continue;
                if (!turned) {
                    n = add(v, n, c->value);
                    n = add(v, n, c->value | ~c->mask);
                    n = add(v, n, 0);
                    n = add(v, n, UINT64_MAX);
                }
                for (unsigned bit = 0; turned && bit < 64; bit++)
                    n = add(v, n, c->value ^ UINT64_C(1) << bit);
            }
        if (!turned)
            values[argument].exact = n;
    }
    values[argument].n = n;
}

/* Tries every combination of the values of the arguments from this one on, with at most `turned`
 * flipped values at a time: all three at once would be ten million for one call. Arguments that no
 * rule tests are all zero or all ones. */
static bool all_arguments(struct pair *x, unsigned argument, unsigned turned)
{
    if (argument == 6)
        return same(x);
    if (values[argument].n == 0)
        return all_arguments(x, argument + 1, turned);
    for (unsigned i = 0; i < values[argument].n; i++) {
        const bool exact = i < values[argument].exact;
        if (!exact && turned == 0)
            break;
        x->d.args[argument] = values[argument].v[i];
        if (!all_arguments(x, argument + 1, turned - !exact))
            return false;
    }
    return true;
}

/* Collects the values of all rules, also those of other calls: finds a number that is dispatched to
 * the wrong rule. */
static bool all_rules(struct pair *x)
{
    for (unsigned i = 0; i < x->p->n; i++) {
        for (unsigned k = 0; k < x->p->v[i].n; k++)
            x->d.args[x->p->v[i].c[k].argument] = x->p->v[i].c[k].value;
        if (x->p->v[i].n > 0 && !same(x))
            return false;
    }
    return true;
}

static bool all_numbers(struct pair *x)
{
    static const uint32_t from[] = { 0,          0x3ffffc00, 0x40000000, 0x7ffffc00,
                                     0x80000000, 0xbffffc00, 0xfffff800, 0xfffffc00 };
    for (size_t k = 0; k < sizeof(from) / sizeof(from[0]); k++)
        for (uint32_t i = 0; i < 2 * FLT_CALLS_MAX && from[k] + i >= from[k]; i++) {
            x->d.nr = (int)(from[k] + i);
            for (unsigned argument = 0; argument < 6; argument++)
                collect(x->p, x->d.nr, argument);
            for (int fill = 0; fill < 2; fill++) {
                memset(x->d.args, fill ? 0xff : 0, sizeof(x->d.args));
                if (!all_arguments(x, 0, x->d.arch == x->p->arch ? 2 : 1) || !all_rules(x))
                    return false;
            }
        }
    return true;
}

bool flt_equal(const struct flt_policy *p, const struct sock_filter *a, unsigned n_a,
               const struct sock_filter *b, unsigned n_b, struct seccomp_data *ret_at)
{
    const uint32_t archs[] = { AUDIT_ARCH_X86_64, AUDIT_ARCH_I386, AUDIT_ARCH_AARCH64,
                               AUDIT_ARCH_ARM,    p->arch ^ 1,     0,
                               UINT32_MAX };
    struct pair x = { .p = p, .a = a, .b = b, .n_a = n_a, .n_b = n_b };
    for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++) {
        x.d.arch = archs[i];
        if (!all_numbers(&x)) {
            *ret_at = x.d;
            return false;
        }
    }
    return true;
}
