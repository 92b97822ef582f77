/* Command line of the master: the options of Hadoop's ServiceMaster, so that who starts that can
 * start this one.
 *
 *     selvedge-service-am -yarnfile URL -service_name NAME [-keytab FILE] [-principal_name NAME]
 *                         [-D KEY=VALUE]… [-conf FILE]…
 *
 * and for the framework $FRAMEWORK_NAME, with the URL of its FrameworkDescriptor, alone or as the
 * member "descriptor" of an object:
 *
 *     selvedge-service-am -framework URL [-D KEY=VALUE]… [-conf FILE]… */
#ifndef SELVEDGE_SERVICE_AM_OPTIONS_H
#define SELVEDGE_SERVICE_AM_OPTIONS_H

#include "common/conf.h"
#include "common/error.h"

struct svc_am_options {   /* texts are argv's, the environment's or static */
    const char *yarnfile; /* URL of the definition, or a path on fs.defaultFS */
    const char *name;
    bool framework;         /* the name is one of a framework */
    const char *user;       /* $HADOOP_USER_NAME, else the process' account */
    const char *host;       /* $NM_HOST */
    const char *proxy_base; /* $APPLICATION_WEB_PROXY_BASE, "/proxy/application_…"; "" = none */
};

/* Writes -D to `conf` as overrides, and loads the files of -conf. -EINVAL: err has the usage. */
int svc_am_options_read(int argc, char **argv, struct sv_conf *conf, struct svc_am_options *ret,
                        struct sv_error *err) _must_use_;

#endif
