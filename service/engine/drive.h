/* Upgrades that go on by themselves: instance after instance of a component, component after
 * component of the service; and their cancellation. */
#ifndef SELVEDGE_SERVICE_ENGINE_DRIVE_H
#define SELVEDGE_SERVICE_ENGINE_DRIVE_H

#include "service/engine/model.h"

/* Instances of a driven component, as many as the budget allows. */
void svc_drive_instances(struct svc_comp *c);
/* The next component of an express or cancelled upgrade, where one is due. */
void svc_drive_next(struct svc_engine *e);
/* False: no upgrade goes on that can be cancelled. */
bool svc_cancel_upgrade(struct svc_engine *e);

#endif
