/* A system call policy as rules, and the BPF program generated from it. Used at build time
 * (compile.c) and by its test; not installed. */
#ifndef SELVEDGE_EXECUTOR_SECCOMP_FILTER_H
#define SELVEDGE_EXECUTOR_SECCOMP_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

enum { FLT_RULES_MAX = 1024, FLT_CODE_MAX = 4096, FLT_CALLS_MAX = 1024 };

struct flt_condition { /* (argument & mask) == value, in 64 bits */
    unsigned argument;
    uint64_t mask, value;
};

struct flt_rule {
    int call;
    uint32_t action;
    unsigned n; /* number of conditions, combined by AND */
    struct flt_condition c[6];
};

/* Among the rules of one call those with conditions come first; the conditions of one call test the
 * same argument with the same mask and, if that argument was equal, the same next one. */
struct flt_policy {
    uint32_t arch, foreign; /* AUDIT_ARCH_…; result for a call of another one, or of x32 */
    uint32_t otherwise;     /* result for a call without a rule */
    struct flt_rule v[FLT_RULES_MAX];
    unsigned n;
};

struct flt_program {
    struct sock_filter code[FLT_CODE_MAX]; /* the program is at its end */
    unsigned at, n;                        /* its first instruction, and their number */
};

/* tree.c: NULL, or the unsupported part of the policy. */
const char *flt_generate(const struct flt_policy *p, struct flt_program *ret);

/* prove.c: a program's result for a call; 0xffffffff, which the kernel does not know, for an
 * invalid program. */
uint32_t flt_run(const struct sock_filter *code, unsigned n, const struct seccomp_data *d);
/* True if both programs return the same for every call number, every kind of architecture, and for
 * the arguments that the policy tests every value that could make a difference. False: *ret_at is a
 * call with a difference. */
bool flt_equal(const struct flt_policy *p, const struct sock_filter *a, unsigned n_a,
               const struct sock_filter *b, unsigned n_b, struct seccomp_data *ret_at);

#endif
