/* Debugging information of a launch, as yarn.nodemanager.log-container-debug-info.enabled has it:
 *
 *    LOG_DIR/launch_container.sh   a copy of the launch script, mode 0640
 *    LOG_DIR/directory.info        output of `ls -l`, `find -L . -maxdepth 5 -ls` and, for broken
 *                                 links, `find -L . -maxdepth 5 -type l -ls`, appended
 *
 * Hostile input: the tree, of the job's own archives: any depth, name and link. Its programs have
 * the job's rights and no others. */
#ifndef SELVEDGE_EXECUTOR_DEBUG_INFO_H
#define SELVEDGE_EXECUTOR_DEBUG_INFO_H

/* Describes the current directory; once in a process. Every failure is a line on standard error and
 * no more; its descriptors end with an execution. */
void debug_info_write(const char *log_dir);

#endif
