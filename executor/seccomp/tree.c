/* Generates the program of a policy: a balanced tree of comparisons over ranges of call numbers
 * with one answer, in place of libseccomp's single numbers. At every launch the kernel translates
 * the program and evaluates it once for each known number: both take time by its length and depth.
 *
 * Written from the end to the front, so that the target of a jump is known when the jump is
 * written. */
#include <linux/audit.h>
#include <stddef.h>
#include <string.h>

#include "executor/seccomp/filter.h"

#define X32 0x40000000u /* bit of a call number */
#define NEAR 255        /* range of a conditional jump */

struct output {
    struct flt_program *p;
    const char *error;
};

struct range {
    uint32_t first;
    unsigned to;
};

static void put(struct output *o, struct sock_filter i)
{
    if (o->p->at == 0)
        o->error = "program too long";
    else
        o->p->code[--o->p->at] = i;
}

/* An equivalent place within the range of a jump that follows `before` more instructions. */
static unsigned near(struct output *o, unsigned place, unsigned before)
{
    const struct sock_filter there = o->p->code[place];
    if (place - o->p->at + before <= NEAR)
        return place;
    if (BPF_CLASS(there.code) == BPF_RET)
        put(o, there);
    else
        put(o, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, place - o->p->at));
    return o->p->at;
}

static unsigned branch(struct output *o, uint16_t test, uint32_t k, unsigned yes, unsigned no)
{
    yes = near(o, yes, 1); /* the other one may use an instruction */
    no = near(o, no, 0);
    put(o, (struct sock_filter)BPF_JUMP((uint16_t)(BPF_JMP | test | BPF_K), k,
                                        (uint8_t)(yes - o->p->at), (uint8_t)(no - o->p->at)));
    return o->p->at;
}

static unsigned load(struct output *o, size_t offset)
{
    put(o, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
    return o->p->at;
}

/* Loads one half of an argument, masked. */
static unsigned load_half(struct output *o, unsigned argument, unsigned high, uint32_t mask)
{
    if (mask != UINT32_MAX)
        put(o, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
    return load(o,
                offsetof(struct seccomp_data, args) + 8 * argument + 4 * high); /* little-endian */
}

static unsigned answer(struct output *o, uint32_t action)
{
    for (unsigned i = FLT_CODE_MAX;
         i-- > o->p->at;) /* the one written first: one copy of each result */
        if (o->p->code[i].code == (BPF_RET | BPF_K) && o->p->code[i].k == action)
            return i;
    put(o, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
    return o->p->at;
}

/* Entry for a call whose rules, all alike in their first `depth` conditions, are those of `r`. */
static unsigned rules(struct output *o, const struct flt_rule **r, unsigned n, unsigned depth,
                      unsigned otherwise)
{
    const struct flt_rule *open[FLT_RULES_MAX], *alike[FLT_RULES_MAX];
    unsigned n_open = 0, to[FLT_RULES_MAX], place;
    for (unsigned i = n; i-- > 0;)
        if (r[i]->n == depth)
            otherwise = answer(o, r[i]->action);
    for (unsigned i = 0; i < n; i++)
        if (r[i]->n > depth)
            open[n_open++] = r[i];
    if (n_open == 0)
        return otherwise;
    const struct flt_condition *first = &open[0]->c[depth];
    for (unsigned i = 0; i < n_open; i++) {
        const struct flt_condition *c = &open[i]->c[depth];
        unsigned n_alike = 0;
        if (c->argument != first->argument || c->mask != first->mask || c->value & ~c->mask ||
            c->value >> 32 != first->value >> 32)
            o->error = "conditions of one call that do not go together";
        for (unsigned k = 0; k < n_open; k++)
            if (open[k]->c[depth].value == c->value)
                alike[n_alike++] = open[k];
        to[i] = alike[0] == open[i] ? rules(o, alike, n_alike, depth + 1, otherwise) : otherwise;
    }
    place = otherwise;
    for (unsigned i = n_open; i-- > 0;) {
        unsigned before = 0;
        while (open[before]->c[depth].value != open[i]->c[depth].value)
            before++;
        if (before == i) /* else an equal one came before */
            place = branch(o, BPF_JEQ, (uint32_t)open[i]->c[depth].value, to[i], place);
    }
    place = load_half(o, first->argument, 0, (uint32_t)first->mask);
    if (first->mask >> 32) {
        place = branch(o, BPF_JEQ, (uint32_t)(first->value >> 32), place, otherwise);
        place = load_half(o, first->argument, 1, (uint32_t)(first->mask >> 32));
    }
    return place;
}

static unsigned call(struct output *o, const struct flt_policy *p, int number, unsigned otherwise)
{
    const struct flt_rule *of[FLT_RULES_MAX];
    unsigned n = 0;
    for (unsigned i = 0; i < p->n; i++)
        if (p->v[i].call == number)
            of[n++] = &p->v[i];
    return rules(o, of, n, 0, otherwise);
}

static unsigned tree(struct output *o, const struct range *r, unsigned n)
{
    if (n == 1)
        return r->to;
    const unsigned right = tree(o, r + n / 2, n - n / 2), left = tree(o, r, n / 2);
    return branch(o, BPF_JGE, r[n / 2].first, right, left);
}

const char *flt_generate(const struct flt_policy *p, struct flt_program *ret)
{
    static struct range ranges[FLT_CALLS_MAX + 3];
    struct output o = { .p = ret };
    unsigned n = 0;
    ret->at = FLT_CODE_MAX;
    const unsigned foreign = answer(&o, p->foreign), otherwise = answer(&o, p->otherwise);
    for (unsigned i = 0; i < p->n; i++)
        if (p->v[i].call < 0 || p->v[i].call >= FLT_CALLS_MAX)
            return "call number";
    for (int i = 0; i < FLT_CALLS_MAX; i++) {
        const unsigned to = call(&o, p, i, otherwise);
        if (n == 0 || ranges[n - 1].to != to)
            ranges[n++] = (struct range){ (uint32_t)i, to };
    }
    if (ranges[n - 1].to != otherwise)
        ranges[n++] = (struct range){ FLT_CALLS_MAX, otherwise };
    if (p->arch == AUDIT_ARCH_X86_64) {
        ranges[n++] = (struct range){ X32, foreign };
        ranges[n++] = (struct range){ UINT32_MAX, otherwise }; /* a tracer's "no call" */
    }
    unsigned place = tree(&o, ranges, n);
    place = load(&o, offsetof(struct seccomp_data, nr));
    (void)branch(&o, BPF_JEQ, p->arch, place, foreign);
    (void)load(&o, offsetof(struct seccomp_data, arch));
    ret->n = FLT_CODE_MAX - ret->at;
    return o.error;
}
