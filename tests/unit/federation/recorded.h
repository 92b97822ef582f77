/* Scenarios that Hadoop's policies were recorded with (tests/golden/federation/NAME-3.4.2, written
 * by tests/interop/java/reference/FederationPolicies.java): lines of words, a scenario from
 * "scenario N" on. Unit tests run in the top directory. */
#ifndef SELVEDGE_TESTS_FEDERATION_RECORDED_H
#define SELVEDGE_TESTS_FEDERATION_RECORDED_H

#include <stdio.h>
#include <string.h>

#include "federation/policy/manager.h"
#include "federation/policy/resolver.h"

#define RECORDED_WORDS 7
#define RECORDED_MAX 64 /* members, rows, answers of a scenario */

struct recorded_line {
    char *words[RECORDED_WORDS]; /* "" behind the last */
};

struct recorded {
    unsigned number;
    struct sv_arena *arena;
    const char *machines, *params, *manager, *queue, *load, *fail, *excluded;
    struct recorded_line members[RECORDED_MAX], asks[RECORDED_MAX], answers[RECORDED_MAX];
    size_t n_members, n_asks, n_answers;
    bool refused, error;
    struct fed_resolver *resolver;
};

static inline struct recorded_line recorded_words(char *rest)
{
    struct recorded_line l;

    for (size_t i = 0; i < RECORDED_WORDS; i++) {
        char *word = rest ? strsep(&rest, " ") : NULL;

        l.words[i] = word ? word : (char *)(uintptr_t) "";
    }
    return l;
}

static inline void recorded_take(struct recorded *s, const char *line)
{
    char *rest = sv_arena_strdup(s->arena, line), *word = strsep(&rest, " ");
    const char **texts[] = { &s->params, &s->manager, &s->queue, &s->load, &s->fail, &s->excluded };
    static const char *const names[] = { "params", "manager", "queue", "load", "fail", "excluded" };

    s->refused |= strcmp(word, "refused") == 0;
    s->error |= strcmp(word, "error") == 0;
    if (strcmp(word, "machine") == 0)
        s->machines = sv_arena_printf(s->arena, "%s%s\n", s->machines, rest);
    if (strcmp(word, "member") == 0)
        s->members[s->n_members++] = recorded_words(rest);
    if (strcmp(word, "ask") == 0)
        s->asks[s->n_asks++] = recorded_words(rest);
    if (strcmp(word, "answer") == 0)
        s->answers[s->n_answers++] = recorded_words(rest);
    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++)
        if (strcmp(word, names[i]) == 0)
            *texts[i] = rest;
}

/* Runs `check` with each scenario; returns their number. */
static inline size_t recorded_each(const char *path, void (*check)(const struct recorded *s))
{
    FILE *f = fopen(path, "re");
    static struct recorded s;
    char line[8192];
    size_t n = 0;

    assert_non_null(f);
    for (bool more = true; more;) {
        more = fgets(line, sizeof(line), f) != NULL;
        if (!more || strncmp(line, "scenario ", 9) == 0) {
            struct fed_resolver_notes notes;

            if (s.arena) {
                assert_int_equal(
                    fed_resolver_parse(s.machines, strlen(s.machines), &s.resolver, &notes, NULL),
                    0);
                assert_int_equal(notes.n_malformed, 0);
                check(&s);
                fed_resolver_free(s.resolver);
                n++;
            }
            sv_arena_free(s.arena);
            s = (struct recorded){ 0 };
            if (more) {
                s.arena = sv_arena_new(0);
                s.machines = "";
                s.number = (unsigned)strtoul(line + 9, NULL, 10);
            }
        } else {
            line[strcspn(line, "\n")] = '\0';
            recorded_take(&s, line);
        }
    }
    fclose(f);
    return n;
}

#endif
