/* A list of hosts as the ResourceManager reads it (yarn.resourcemanager.nodes.exclude-path): words
 * apart by blanks, commas or line ends; # begins a comment. */
#ifndef SELVEDGE_CLIENT_COMMANDS_HOSTS_FILE_H
#define SELVEDGE_CLIENT_COMMANDS_HOSTS_FILE_H

#include "common/base.h"

bool cli_hosts_have(const char *text, const char *host);
/* The text with `host` added on a line of its own, or with each mention of it removed; comments
 * stay. malloc'd. */
int cli_hosts_edit(const char *text, const char *host, bool add, char **ret) _must_use_;

#endif
