/* Rules about what a definition must say and what must agree, those of Apache's validation among
 * them. Each names path, value and rule in its error. Hostile: the definition. */
#ifndef SELVEDGE_SERVICE_DEFINITION_CHECK_H
#define SELVEDGE_SERVICE_DEFINITION_CHECK_H

#include "service/definition/definition.h"
#include "service/definition/refuse.h"

/* Positions of a definition's components by name. */
struct svc_names {
    size_t n;
    bool open; /* a component of type SERVICE stands for others: a missing name is no error */
    struct svc_position {
        const char *name;
        size_t at;
    } sorted[SVC_COMPONENTS_MAX];
};
/* A name that is there twice is an error. */
int svc_names_of(const struct svc_definition *d, struct svc_names *ret, struct sv_error *err)
    _must_use_;
/* SIZE_MAX: there is none. */
size_t svc_names_find(const struct svc_names *n, const char *name);

/* Parts of svc_definition_check(); `path` is that of what is checked. */
int svc_check_configuration(const struct svc_configuration *c, const char *path,
                            struct sv_error *err) _must_use_;
int svc_check_placement(const struct svc_component *c, const char *path,
                        const struct svc_names *names, struct sv_error *err) _must_use_;
/* Dependencies exist and have no cycle. */
int svc_check_dependencies(const struct svc_definition *d, const struct svc_names *names,
                           struct sv_error *err) _must_use_;

#endif
