/* Edits a list of hosts in the format of the ResourceManager
 * (yarn.resourcemanager.nodes.exclude-path): words separated by blanks, commas or newlines; #
 * begins a comment. */
#ifndef SELVEDGE_CLIENT_COMMANDS_HOSTS_FILE_H
#define SELVEDGE_CLIENT_COMMANDS_HOSTS_FILE_H

#include "common/base.h"

bool cli_hosts_have(const char *text, const char *host);
/* Returns the text with `host` added on a line of its own, or with every mention of it removed;
 * comments are kept. malloc'd. */
int cli_hosts_edit(const char *text, const char *host, bool add, char **ret) _must_use_;

#endif
