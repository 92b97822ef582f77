/* Where a task is asked for that needs GPUs or ports that are its own: the node whose free ones it
 * takes away least from others. FrameworkLauncher's rules: nodes by label, type of GPU and what is
 * free, packed tightly, one of the tightest at random. Pure; a node's report is the cluster's. */
#ifndef SELVEDGE_SERVICE_ENGINE_PLACE_H
#define SELVEDGE_SERVICE_ENGINE_PLACE_H

#include "common/error.h"
#include "service/engine/ranges.h"
#include "service/framework/descriptor.h"

struct svc_place_amount {
    int64_t memory_mb, cpus;
    struct svc_gpus gpus;
    const struct svc_range *ports; /* free ones, in a report; those asked for, in a claim */
    size_t n_ports;
};
struct svc_place_report {
    const char *host, *label;            /* "" or NULL: none */
    struct svc_place_amount total, used; /* ports: in `total` those that are free */
    bool ports_known;                    /* else each port is as good as any */
};

struct svc_places;
struct svc_places *svc_places_new(void); /* without memory the process ends */
struct svc_places *svc_places_free(struct svc_places *p);
static inline void svc_places_freep(struct svc_places **p)
{
    *p = svc_places_free(*p);
}
/* A node's report replaces the one before and what was tried on it. */
void svc_places_report(struct svc_places *p, const struct svc_place_report *r);
void svc_places_remove(struct svc_places *p, const char *host);

struct svc_place_wish {
    const struct svc_fw_resource *resource;
    const char *label;     /* NULL, "": none */
    const char *gpu_types; /* "K80,M60"; NULL: any */
    /* Type of a host's GPUs (ClusterConfiguration): NULL where it has none. type_of NULL: there is
     * no such configuration, and types are not looked at. */
    const char *(*type_of)(void *userdata, const char *host);
    void *userdata;
    bool skip_tried;      /* what a request was for that nobody answered */
    bool spare_gpu_nodes; /* nodes with GPUs are not for tasks without */
    int32_t min_port;     /* of ports that are chosen [2000] */
    int64_t tasks;        /* of the role: the choice is among so many nodes, times `factor` */
    int32_t factor;       /* [2] */
    uint64_t random[2];   /* any numbers */
};
struct svc_place_choice {
    const char *host;        /* NULL: any, by the label; until the next call */
    uint64_t gpu_mask;       /* 0: the node chooses */
    struct svc_range *ports; /* all of the task's, the fixed ones too; svc_place_choice_clear() */
    size_t n_ports;
};
/* 0. -EAGAIN: later, as no node has it (err says which node lacks what). Without a node that
 * has it, a task without a type of GPU and without ports to choose is asked for anywhere; one with
 * a mask on a node that has the GPUs, which may become free. */
int svc_places_choose(struct svc_places *p, const struct svc_place_wish *w,
                      struct svc_place_choice *ret, struct sv_error *err) _must_use_;
void svc_place_choice_clear(struct svc_place_choice *c);

/* A request for the chosen is outstanding: others do not count on it. */
void svc_places_claim(struct svc_places *p, int64_t request, const struct svc_fw_resource *resource,
                      const struct svc_place_choice *c);
/* It was answered or taken back. tried: it was not to be had there. */
void svc_places_settle(struct svc_places *p, int64_t request, bool tried);

#endif
