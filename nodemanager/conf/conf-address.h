/* Addresses of yarn-site.xml that mean "every address of this machine": the node listens on them,
 * but registers under its canonical host name. Only for the time before the loop runs: a look-up
 * may query the name server. The files are the operator's. */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_ADDRESS_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_ADDRESS_H

#include "common/base.h"
#include "common/error.h"

#define NM_HOST_MAX 256

struct ipc_proxy_config;

/* True for "0.0.0.0", "::" and other spellings of the wildcard address. */
bool nm_host_is_wildcard(const char *host);
/* The machine's canonical name by the resolver (`hostname -f`), else its host name. */
int nm_host_canonical(char ret[NM_HOST_MAX], struct sv_error *err) _must_use_;
/* The first address of `host` as text, preferably not a loopback one; -ENOENT: none. */
int nm_host_address(const char *host, char ret[NM_HOST_MAX]) _must_use_;
/* True if `host`, the node's name, resolves only to this machine while a ResourceManager is on
 * another one, which then cannot reach the node. `ret_rm` gets that ResourceManager's host. */
bool nm_host_is_local_name(const char *host, const struct ipc_proxy_config *rm,
                           const char **ret_rm);

#endif
