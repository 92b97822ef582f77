/* compile POLICY FILTER [ARCHITECTURE]: turns a policy text into the BPF program that the setuid
 * helper loads. Runs at build time; libseccomp is never part of the helper. Input: our own source.
 *
 * tree.c generates the program, as short as possible: the kernel's time at every launch grows with
 * its length. libseccomp resolves the names and compiles the same policy its own way; unless both
 * programs answer every call alike (prove.c) no filter is written.
 *
 * Lines:  default errno NAME            result of every other call; first line of the policy
 *         allow CALL…                   any arguments
 *         allow CALL aN=VALUE…          one call, with all the conditions; lines of it are
 *         allow CALL aN&MASK=VALUE…     alternatives. 64-bit comparison of the masked argument
 *         deny CALL…                    EPERM
 *         errno NAME CALL…              this error number
 *         include FILE                  its lines, from the same directory; once, not nested
 *         first-deny CALL aN VALUE      EPERM, comparing the low 32 bits; before all other rules
 *
 * A call may be given as NAME=NUMBER when it is newer than the library here; numbers below 424 are
 * x86_64's own. An unknown name is an error: a policy is never silently smaller or larger than its
 * text. ARCHITECTURE is a name of libseccomp's (aarch64); without one, this machine's. */
#include <ctype.h>
#include <errno.h>
#include <seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/seccomp/filter.h"

enum { WORDS_MAX = 64, NEWER_MAX = 32, SAME_EVERYWHERE = 424 };

struct call {
    int number; /* of the architecture; -1: none */
    int native; /* libseccomp's input, which it translates */
    bool newer; /* libseccomp does not know the name, and translates no number without a name */
};

static const char *policy = "compile";
static int line_number;
static struct flt_policy rules;
static unsigned n_first; /* rules of first-deny among them */
static struct {
    int number;
    uint32_t action;
} newer[NEWER_MAX]; /* numbers on another architecture */
static unsigned n_newer;

__attribute__((format(printf, 1, 2))) _Noreturn static void fail(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    (void)fprintf(stderr, "%s:%d: ", policy, line_number);
    (void)vfprintf(stderr, format, ap);
    (void)fputc('\n', stderr);
    va_end(ap);
    exit(1);
}

static int error_number(const char *name)
{
    if (strcmp(name, "ENOSYS") == 0)
        return ENOSYS;
    if (strcmp(name, "EPERM") == 0)
        return EPERM;
    fail("unknown error name %s", name);
}

static uint64_t number(const char *s)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(s, &end, 0);
    if (errno || end == s || *end)
        fail("not a number: %s", s);
    return v;
}

static struct call resolve(char *word)
{
    char *equals = strchr(word, '=');
    struct call call = { .number = -1 };

    if (equals)
        *equals = '\0';
    call.native = seccomp_syscall_resolve_name(word);
    call.number = seccomp_syscall_resolve_name_arch(rules.arch, word);
    if (call.number == __NR_SCMP_ERROR) {
        if (!equals)
            fail("this libseccomp does not know %s; write %s=NUMBER", word, word);
        call.newer = rules.arch != seccomp_arch_native();
        call.native = call.number = (int)number(equals + 1);
        if (call.number < SAME_EVERYWHERE && rules.arch != SCMP_ARCH_X86_64)
            call.number = -1;
    }
    if (call.number < 0)
        call.number = -1;
    return call;
}

static struct flt_condition condition(char *word)
{
    char *equals = strchr(word, '='), *mask = strchr(word, '&');
    if (word[0] != 'a' || !isdigit((unsigned char)word[1]) || !equals)
        fail("not a condition: %s", word);
    *equals = '\0';
    if (mask)
        *mask = '\0';
    unsigned n = (unsigned)number(word + 1);
    if (n > 5)
        fail("argument %u", n);
    return (struct flt_condition){ n, mask ? number(mask + 1) : UINT64_MAX, number(equals + 1) };
}

static struct flt_rule *note(uint32_t action, int call, const struct flt_condition *c, unsigned n)
{
    struct flt_rule *r = &rules.v[rules.n];
    if (rules.n++ == FLT_RULES_MAX)
        fail("too many rules");
    *r = (struct flt_rule){ .call = call, .action = action, .n = n };
    if (n > 0)
        memcpy(r->c, c, n * sizeof(*c));
    return r;
}

static void add(scmp_filter_ctx ctx, uint32_t action, struct call call,
                const struct flt_condition *c, unsigned n)
{
    struct scmp_arg_cmp theirs[6];

    (void)note(action, call.number, c, n);
    if (call.newer) {
        if (n > 0 || n_newer == NEWER_MAX)
            fail("a call given by number has conditions, or there are too many");
        newer[n_newer].number = call.number;
        newer[n_newer++].action = action;
        return;
    }
    for (unsigned i = 0; i < n; i++)
        theirs[i] = ~c[i].mask
                        ? SCMP_CMP64(c[i].argument, SCMP_CMP_MASKED_EQ, c[i].mask, c[i].value)
                        : SCMP_CMP64(c[i].argument, SCMP_CMP_EQ, c[i].value, 0);
    int r = seccomp_rule_add_array(ctx, action, call.native, n, theirs);
    if (r < 0)
        fail("rule: %s", strerror(-r));
}

static void rule(scmp_filter_ctx ctx, uint32_t action, char **words, unsigned n)
{
    struct flt_condition conditions[6];
    if (n == 0)
        fail("no system call named");
    if (n > 1 && words[1][0] == 'a' && isdigit((unsigned char)words[1][1])) {
        if (n > 7)
            fail("too many conditions");
        for (unsigned i = 1; i < n; i++)
            conditions[i - 1] = condition(words[i]);
        struct call call = resolve(words[0]);
        if (call.number >= 0)
            add(ctx, action, call, conditions, n - 1);
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        struct call call = resolve(words[i]);
        if (call.number >= 0)
            add(ctx, action, call, NULL, 0);
    }
}

static void read_policy(scmp_filter_ctx *ctx, const char *path);

static void include(scmp_filter_ctx *ctx, const char *name)
{
    char path[512];
    const char *from = policy, *slash = strrchr(from, '/');
    int at = line_number;
    if (snprintf(path, sizeof(path), "%.*s%s", slash ? (int)(slash - from + 1) : 0, from, name) >=
        (int)sizeof(path))
        fail("path too long");
    read_policy(ctx, path);
    policy = from;
    line_number = at;
}

static bool of_architecture(scmp_filter_ctx ctx)
{
    return rules.arch == seccomp_arch_native() || (seccomp_arch_add(ctx, rules.arch) == 0 &&
                                                   seccomp_arch_remove(ctx, SCMP_ARCH_NATIVE) == 0);
}

static void line(scmp_filter_ctx *ctx, char *text)
{
    char *words[WORDS_MAX];
    unsigned n = 0;
    for (char *w; (w = strsep(&text, " \t\n"));) {
        if (*w == '\0')
            continue;
        if (n == WORDS_MAX)
            fail("too many words");
        words[n++] = w;
    }
    if (n == 0 || words[0][0] == '#')
        return;
    if (strcmp(words[0], "default") == 0 && n == 3 && strcmp(words[1], "errno") == 0 && !*ctx) {
        *ctx = seccomp_init(SCMP_ACT_ERRNO((uint32_t)error_number(words[2])));
        if (!*ctx || seccomp_attr_set(*ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) < 0 ||
            seccomp_attr_set(*ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2) < 0 || !of_architecture(*ctx))
            fail("libseccomp cannot start");
        rules.otherwise = SECCOMP_RET_ERRNO | (uint32_t)error_number(words[2]);
        return;
    }
    if (strcmp(words[0], "include") == 0 && n == 2 && !*ctx) {
        include(ctx, words[1]);
        return;
    }
    if (!*ctx)
        fail("the policy must start with a default");
    if (strcmp(words[0], "allow") == 0)
        rule(*ctx, SCMP_ACT_ALLOW, words + 1, n - 1);
    else if (strcmp(words[0], "deny") == 0)
        rule(*ctx, SCMP_ACT_ERRNO(EPERM), words + 1, n - 1);
    else if (strcmp(words[0], "errno") == 0 && n > 2) {
        rule(*ctx, SCMP_ACT_ERRNO((uint32_t)error_number(words[1])), words + 2, n - 2);
    } else if (strcmp(words[0], "first-deny") == 0 && n == 4 && words[2][0] == 'a' &&
               n_first == rules.n) {
        const struct flt_condition low = { (unsigned)number(words[2] + 1), UINT32_MAX,
                                           (uint32_t)number(words[3]) };
        (void)note(SCMP_ACT_ERRNO(EPERM), resolve(words[1]).number, &low, 1);
        n_first++;
    } else {
        fail("line not understood: %s", words[0]);
    }
}

/* libseccomp's program, after the instructions of first-deny and those for calls that it does not
 * know: its jumps are relative. */
static unsigned theirs(scmp_filter_ctx ctx, struct sock_filter code[FLT_CODE_MAX])
{
    unsigned n = 0;
    for (unsigned i = 0; i < n_first; i++) {
        const struct flt_rule *r = &rules.v[i];
        const unsigned low = (unsigned)offsetof(struct seccomp_data, args) + 8 * r->c[0].argument;
        const struct sock_filter test[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rules.arch, 0, 5),
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)r->call, 0, 3),
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low), /* little-endian machines */
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)r->c[0].value, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, r->action),
        };
        memcpy(code + n, test, sizeof(test));
        n += sizeof(test) / sizeof(test[0]);
    }
    for (unsigned i = 0; i < n_newer; i++) {
        const struct sock_filter test[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rules.arch, 0, 3),
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)newer[i].number, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, newer[i].action),
        };
        memcpy(code + n, test, sizeof(test));
        n += sizeof(test) / sizeof(test[0]);
    }
    FILE *scratch = tmpfile();
    if (!scratch || seccomp_export_bpf(ctx, fileno(scratch)) < 0 || fseek(scratch, 0, SEEK_SET))
        fail("seccomp_export_bpf");
    size_t got = fread(code + n, sizeof(code[0]), FLT_CODE_MAX - n, scratch);
    if (got == 0 || n + got == FLT_CODE_MAX)
        fail("filter is empty or too long");
    (void)fclose(scratch);
    return n + (unsigned)got;
}

static void export(scmp_filter_ctx ctx, const char *path)
{
    static struct sock_filter reference[FLT_CODE_MAX];
    static struct flt_program ours;
    struct seccomp_data at;
    const unsigned n = theirs(ctx, reference);
    const char *error = flt_generate(&rules, &ours);
    if (error)
        fail("%s", error);
    if (!flt_equal(&rules, ours.code + ours.at, ours.n, reference, n, &at))
        fail("not what libseccomp has for call %d of architecture %x (%llx, %llx, %llx)", at.nr,
             at.arch, (unsigned long long)at.args[0], (unsigned long long)at.args[1],
             (unsigned long long)at.args[2]);
    FILE *out = fopen(path, "w");
    if (!out || fwrite(ours.code + ours.at, sizeof(ours.code[0]), ours.n, out) != ours.n ||
        fclose(out) != 0)
        fail("cannot write %s", path);
}

static void read_policy(scmp_filter_ctx *ctx, const char *path)
{
    char text[1024];
    policy = path;
    line_number = 0;
    FILE *in = fopen(path, "r");
    if (!in)
        fail("%s", strerror(errno));
    while (fgets(text, sizeof(text), in)) {
        line_number++;
        if (!strchr(text, '\n'))
            fail("line too long");
        line(ctx, text);
    }
    (void)fclose(in);
}

int main(int argc, char **argv)
{
    scmp_filter_ctx ctx = NULL;
    if (argc != 3 && argc != 4) {
        (void)fprintf(stderr, "usage: %s POLICY FILTER [ARCHITECTURE]\n", argv[0]);
        return 2;
    }
    rules.arch = argc == 4 ? seccomp_arch_resolve_name(argv[3]) : seccomp_arch_native();
    if (rules.arch == 0)
        fail("libseccomp knows no architecture %s", argv[3]);
    rules.foreign = SCMP_ACT_KILL_PROCESS;
    read_policy(&ctx, argv[1]);
    if (!ctx)
        fail("empty policy");
    export(ctx, argv[2]);
    seccomp_release(ctx);
    return 0;
}
