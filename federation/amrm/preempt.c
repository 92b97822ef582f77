/* Joins preemption messages; see preempt.h. Hostile: the messages. */
#include "federation/amrm/preempt.h"

static int take_containers(struct fed_list *l, const struct fed_containers *c, size_t member,
                           Hadoop__Yarn__PreemptionContainerProto *const *list, size_t n,
                           struct sv_arena *a, size_t *n_foreign)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++) {
        struct yarn_container_id id;

        if (yarn_container_id_from(list[i]->id, &id) == 0 && fed_containers_may(c, id, member))
            r = fed_list_add(a, l, list[i]);
        else
            ++*n_foreign;
    }
    return r;
}

int fed_preempt_take(struct fed_preempt *p, const struct fed_containers *c, size_t member,
                     const Hadoop__Yarn__PreemptionMessageProto *m, struct sv_arena *a,
                     size_t *n_foreign)
{
    const Hadoop__Yarn__StrictPreemptionContractProto *strict = m ? m->strictcontract : NULL;
    const Hadoop__Yarn__PreemptionContractProto *contract = m ? m->contract : NULL;
    int r = 0;

    p->strict |= strict != NULL;
    p->contract |= contract != NULL;
    if (strict)
        r = take_containers(&p->strict_containers, c, member, strict->container,
                            strict->n_container, a, n_foreign);
    if (r == 0 && contract)
        r = take_containers(&p->contract_containers, c, member, contract->container,
                            contract->n_container, a, n_foreign);
    for (size_t i = 0; r == 0 && contract && i < contract->n_resource; i++)
        r = fed_list_add(a, &p->contract_resources, contract->resource[i]);
    return r;
}

static int make_strict(const struct fed_preempt *p, struct sv_arena *a,
                       Hadoop__Yarn__PreemptionMessageProto *m)
{
    Hadoop__Yarn__StrictPreemptionContractProto *s =
        sv_new(a, Hadoop__Yarn__StrictPreemptionContractProto);

    if (!s)
        return -ENOMEM;
    hadoop__yarn__strict_preemption_contract_proto__init(s);
    s->container = (Hadoop__Yarn__PreemptionContainerProto **)p->strict_containers.v;
    s->n_container = p->strict_containers.n;
    m->strictcontract = s;
    return 0;
}

static int make_contract(const struct fed_preempt *p, struct sv_arena *a,
                         Hadoop__Yarn__PreemptionMessageProto *m)
{
    Hadoop__Yarn__PreemptionContractProto *c = sv_new(a, Hadoop__Yarn__PreemptionContractProto);

    if (!c)
        return -ENOMEM;
    hadoop__yarn__preemption_contract_proto__init(c);
    c->container = (Hadoop__Yarn__PreemptionContainerProto **)p->contract_containers.v;
    c->n_container = p->contract_containers.n;
    c->resource = (Hadoop__Yarn__PreemptionResourceRequestProto **)p->contract_resources.v;
    c->n_resource = p->contract_resources.n;
    m->contract = c;
    return 0;
}

int fed_preempt_make(const struct fed_preempt *p, struct sv_arena *a,
                     Hadoop__Yarn__PreemptionMessageProto **ret)
{
    Hadoop__Yarn__PreemptionMessageProto *m;
    int r = 0;

    *ret = NULL;
    if (!p->strict && !p->contract)
        return 0;
    m = sv_new(a, Hadoop__Yarn__PreemptionMessageProto);
    if (!m)
        return -ENOMEM;
    hadoop__yarn__preemption_message_proto__init(m);
    if (p->strict)
        r = make_strict(p, a, m);
    if (r == 0 && p->contract)
        r = make_contract(p, a, m);
    if (r == 0)
        *ret = m;
    return r;
}
