/* Whether a class of Java that runs as an auxiliary service is anywhere in its class path: for
 * --check-config and `selvedge doctor`. The daemon learns it from Java, after its start. */
#ifndef SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_CLASS_H
#define SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_CLASS_H

#include "nodemanager/conf/conf.h"

/* Calls fn with a sentence for each service that this node cannot run, and why: a program, Java or
 * the class is missing. A class is looked for in the service's class path and Hadoop's, where the
 * latter is known without asking `hadoop classpath`. The jars are root's or the operator's: only
 * searched for the name, never unpacked. Bad values of keys are told the same way. */
void nm_aux_each_missing(const struct nm_conf *conf, void (*fn)(const char *text, void *userdata),
                         void *userdata);

#endif
