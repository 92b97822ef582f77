/* Slider's spelling of a service: resources.json, appConf.json and internal.json, read as a
 * definition. Hostile: all three. */
#ifndef SELVEDGE_SERVICE_DEFINITION_SLIDER_H
#define SELVEDGE_SERVICE_DEFINITION_SLIDER_H

#include "service/definition/definition.h"

struct svc_slider_files {
    const char *resources; /* NULL: a file is not there; resources must be */
    size_t n_resources;
    const char *app_conf;
    size_t n_app_conf;
    const char *internal;
    size_t n_internal;
};

/* Properties of a component that YARN's services have no word for; the policy of slider reads
 * them. */
#define SVC_SLIDER_NAME "slider.component.name" /* as Slider spells it */
#define SVC_SLIDER_PRIORITY "yarn.role.priority"
#define SVC_SLIDER_PLACEMENT "yarn.component.placement.policy" /* bits: 1 strict, 2 anywhere */
#define SVC_SLIDER_ESCALATE "yarn.placement.escalate.seconds"

/* `name`: of the service; NULL: application.name of internal.json. Components come in the order of
 * their priorities; HBASE_MASTER is named hbase-master. `launch_command` of appConf.json, which is
 * no option of Slider's, is the command of a component: Slider has it in the application's package.
 * The definition is checked as one that is parsed. */
int svc_slider_import(const struct svc_slider_files *files, const char *name, struct sv_arena *a,
                      struct svc_definition **ret, struct sv_error *err) _must_use_;

/* Reads resources.json as the body of a flex: the desired instances of each component of `d`, in
 * its order; 0 for one that is not mentioned. -EINVAL: nothing may be done of it, a component that
 * the service lacks included. */
int svc_slider_flex(const char *resources, size_t len, const struct svc_definition *d,
                    int64_t *ret_counts, struct sv_error *err) _must_use_;

#endif
