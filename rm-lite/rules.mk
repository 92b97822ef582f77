RM_PKGS := jansson sqlite3 libcurl
CFLAGS_rm-lite := $(CFLAGS_common) $(shell $(PKGCONFIG) --cflags $(RM_PKGS))
RM_LDLIBS = $(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs $(RM_PKGS)) -lm

# The scheduler alone: a pure library, linked by its tests without the rest.
RM_SCHED_OBJS := $(addprefix $(BUILD)/rm-lite/, resource-types.o queues.o queue-users.o queue-order.o queue-mappings.o scheduler-keys.o preemption-conf.o queue-key-table.o queue-keys.o queue-conf.o pool.o id-table.o scheduler-ids.o ask-index.o ready-apps.o queue-limits.o room.o allocation.o \
	reservations.o asks.o assign.o rounds.o parallel-apps.o app-queue.o preempt-shares.o preempt-inside.o preemption.o reconfigure.o scheduler.o scheduler-query.o record.o replay.o)
RM_OBJS := $(RM_SCHED_OBJS) $(addprefix $(BUILD)/rm-lite/, text.o name-set.o rm-conf.o conf-hadoop-keys.o conf-unread.o secrets.o \
	context.o fsm-step.o app-lifetime.o queue-counters.o ended-containers.o rm-app.o app-usage.o log-status.o rm-app-attempt.o rm-container.o rm-node.o scheduling.o store.o store-tokens.o store-usage.o store-draining.o delegation.o \
	tokens.o tracking.o audit.o reports.o am-launcher.o rm-app-fsm.o rm-app-attempt-fsm.o \
	rm-container-fsm.o rm-node-fsm.o rm-app-manager.o hosts-xml.o nodes-list.o overcommit.o version.o periodic.o answer.o access.o app-control.o \
	queue-access.o am-session.o am-unsupported.o am-preemption.o am-allocate.o application-master-service.o node-auth.o node-address.o topology.o topology-script.o resource-tracker-service.o \
	client-call.o call-list.o delegation-calls.o application-reports.o cluster-reports.o client-rm-service.o ha-service.o admin-service.o \
	curl-loop.o proxy-target.o proxy.o page-frame.o page-apps.o page-app.o page-nodes.o page-cluster.o page-kill.o page-route.o web-reply.o web-list.o viewer.o body-xml.o web-body.o web-usage.o web-queue.o web-json.o web-metrics.o web-cluster.o web-off.o web-admin.o web-control.o resource-json.o submission-json.o web-submit.o web-query.o web-attempts.o web-apps.o web-rest.o web-proxy.o web.o services.o rm.o)

$(BUILD)/selvedge-rm: $(BUILD)/rm-lite/main.o $(RM_OBJS) $(WIRE_A) $(COMMON_A)
	$(call link,$(RM_LDLIBS))
PROGRAMS += $(BUILD)/selvedge-rm

RM_TESTS := $(addprefix rm-lite/test-, app-usage conf-unread id-table pool scheduler-ids ended-containers submission-json scheduler resource-types scheduler-properties scheduler-progress scheduler-boundaries app-queue queue-users queue-mappings preemption preempt-inside record am-preemption reservations rounds queue-keys queue-access clock queues state-machines secrets name-set nodes-list topology node-auth tokens reports \
	admin-service modify-app kept-containers gpu-calls body-xml call-list delegation app-lifetime log-status proxy-target \
	rm-app-fsm rm-container-fsm rm-node-fsm)
UNIT_TESTS += $(RM_TESTS)
$(foreach t,$(RM_TESTS),$(eval $(t)_DEPS := $(RM_OBJS) $(WIRE_A) $(COMMON_A))\
	$(eval $(t)_LDLIBS = $(RM_LDLIBS)))
# The scheduler links without the rest: it is a pure library.
rm-lite/test-scheduler_DEPS := $(RM_SCHED_OBJS) $(WIRE_A) $(COMMON_A)
rm-lite/test-id-table_DEPS := $(rm-lite/test-scheduler_DEPS)
rm-lite/test-pool_DEPS := $(rm-lite/test-scheduler_DEPS)
rm-lite/test-scheduler-ids_DEPS := $(rm-lite/test-scheduler_DEPS)
rm-lite/test-reservations_DEPS := $(rm-lite/test-scheduler_DEPS)
rm-lite/test-rounds_DEPS := $(rm-lite/test-scheduler_DEPS)
rm-lite/test-queue-keys_DEPS := $(rm-lite/test-scheduler_DEPS)
rm-lite/test-record_DEPS := $(rm-lite/test-scheduler_DEPS)
rm-lite/test-queues_DEPS := $(rm-lite/test-scheduler_DEPS)
rm-lite/test-resource-types_DEPS := $(rm-lite/test-scheduler_DEPS)
rm-lite/test-scheduler-properties_DEPS := $(rm-lite/test-scheduler_DEPS)
rm-lite/test-scheduler-progress_DEPS := $(rm-lite/test-scheduler_DEPS)
rm-lite/test-scheduler-boundaries_DEPS := $(rm-lite/test-scheduler_DEPS)
rm-lite/test-app-queue_DEPS := $(rm-lite/test-scheduler_DEPS)
rm-lite/test-queue-mappings_DEPS := $(rm-lite/test-scheduler_DEPS)
rm-lite/test-preemption_DEPS := $(rm-lite/test-scheduler_DEPS)
rm-lite/test-preempt-inside_DEPS := $(rm-lite/test-scheduler_DEPS)
rm-lite/test-queue-users_DEPS := $(rm-lite/test-scheduler_DEPS)

# Plays nodes, client and masters for tests/integration/rm-lite/test-rm.
$(BUILD)/tests/integration/rm-lite/rm-driver: $(BUILD)/tests/integration/rm-lite/rm-driver.o $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))
TEST_PROGRAMS += $(BUILD)/tests/integration/rm-lite/rm-driver

# Hostile nodes and masters, for tests/integration/rm-lite/test-rm-hostile.
$(BUILD)/tests/integration/rm-lite/rm-hostile: $(BUILD)/tests/integration/rm-lite/rm-hostile.o $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))
TEST_PROGRAMS += $(BUILD)/tests/integration/rm-lite/rm-hostile

# Nodes and masters over real connections, for tests/bench/bench-load.
$(BUILD)/tests/bench/rm-load: $(BUILD)/tests/bench/rm-load.o $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))
TEST_PROGRAMS += $(BUILD)/tests/bench/rm-load

# The scheduler alone, for tests/bench/bench-rm.
$(BUILD)/tests/bench/scheduler: $(BUILD)/tests/bench/scheduler.o $(RM_SCHED_OBJS) $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS) -lm)
TEST_PROGRAMS += $(BUILD)/tests/bench/scheduler

FUZZ_TARGETS += fuzz-proxy-target fuzz-rest-body fuzz-rest-xml fuzz-scheduler-record
fuzz-scheduler-record_DEPS = $(RM_SCHED_OBJS) $(WIRE_A) $(COMMON_A)
fuzz-scheduler-record_LDLIBS = $(WIRE_LDLIBS) -lm
fuzz-rest-xml_DEPS = $(RM_OBJS) $(WIRE_A) $(COMMON_A)
fuzz-rest-xml_LDLIBS = $(RM_LDLIBS)
fuzz-rest-body_DEPS = $(RM_OBJS) $(WIRE_A) $(COMMON_A)
fuzz-rest-body_LDLIBS = $(RM_LDLIBS)
fuzz-proxy-target_DEPS = $(RM_OBJS) $(WIRE_A) $(COMMON_A)
fuzz-proxy-target_LDLIBS = $(RM_LDLIBS)
