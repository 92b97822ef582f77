/* Runs and prints state machines that are tables. Reads no outside input. */
#include "common/fsm.h"

#include <assert.h>
#include <errno.h>

#include "common/loop-guard.h"

static const struct sv_fsm_cell *cell_of(const struct sv_fsm *fsm, int state, int event)
{
    return &fsm->cells[(size_t)state * (size_t)fsm->n_events + (size_t)event];
}

static bool declares(const struct sv_fsm_cell *cell, int state)
{
    if (state == cell->next)
        return true;
    for (size_t i = 0; i < SV_ARRAY_LEN(cell->alt); i++)
        if (cell->alt[i] && state == cell->alt[i])
            return true;
    return false;
}

int sv_fsm_run(const struct sv_fsm *fsm, int *state, int event, void *object, void *arg)
{
    const struct sv_fsm_cell *cell;
    int next;

    assert(*state > 0 && *state < fsm->n_states);
    if (event <= 0 || event >= fsm->n_events)
        return -EPROTO;
    cell = cell_of(fsm, *state, event);
    if (cell->next == SV_FSM_REFUSED)
        return -EPROTO;
    sv_loop_enter(fsm->name, fsm->event_names[event]);
    next = cell->action ? cell->action(object, event, arg) : cell->next;
    if (!declares(cell, next))
        return -EBADE;
    *state = next;
    return 0;
}

static void print_edge(const struct sv_fsm *fsm, int from, int to, int event, bool other, FILE *out)
{
    fprintf(out, "  %s -> %s [label=\"%s\"%s];\n", fsm->state_names[from], fsm->state_names[to],
            fsm->event_names[event], other ? " style=dashed" : "");
}

void sv_fsm_print_dot(const struct sv_fsm *fsm, FILE *out)
{
    fprintf(out, "digraph %s {\n  node [shape=box];\n", fsm->name);
    for (int s = 1; s < fsm->n_states; s++)
        fprintf(out, "  %s;\n", fsm->state_names[s]);
    for (int s = 1; s < fsm->n_states; s++)
        for (int e = 1; e < fsm->n_events; e++) {
            const struct sv_fsm_cell *cell = cell_of(fsm, s, e);

            if (cell->next == SV_FSM_REFUSED)
                continue;
            print_edge(fsm, s, cell->next, e, false, out);
            for (size_t i = 0; i < SV_ARRAY_LEN(cell->alt); i++)
                if (cell->alt[i])
                    print_edge(fsm, s, cell->alt[i], e, true, out);
        }
    fprintf(out, "}\n");
}
