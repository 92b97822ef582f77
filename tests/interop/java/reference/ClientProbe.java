import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.api.protocolrecords.ApplicationsRequestScope;
import org.apache.hadoop.yarn.api.protocolrecords.GetApplicationsRequest;
import org.apache.hadoop.yarn.api.protocolrecords.ReservationDeleteRequest;
import org.apache.hadoop.yarn.api.protocolrecords.ReservationListRequest;
import org.apache.hadoop.yarn.api.protocolrecords.ReservationSubmissionRequest;
import org.apache.hadoop.yarn.api.protocolrecords.UpdateApplicationTimeoutsRequest;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptReport;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.ApplicationTimeoutType;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.ContainerReport;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.NodeReport;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.QueueInfo;
import org.apache.hadoop.yarn.api.records.QueueUserACLInfo;
import org.apache.hadoop.yarn.api.records.ReservationId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.SignalContainerCommand;
import org.apache.hadoop.yarn.api.records.YarnApplicationAttemptState;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.api.records.YarnClusterMetrics;
import org.apache.hadoop.yarn.client.api.AMRMClient;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.client.api.YarnClientApplication;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;

/**
 * Calls every public method of YarnClient and prints "CASE TAB RESULT" to compare two ResourceManagers: the fields that
 * do not depend on time or host, or the exception.
 * Driven by tests/interop/cases/yarn_client.py.
 */
public final class ClientProbe {
  private final Configuration conf = new YarnConfiguration();
  private final YarnClient yarn = YarnClient.createYarnClient();

  private ClientProbe() {
  }

  // ---- Printing results ----

  private interface Case {
    Object run() throws Exception;
  }

  /** Replaces cluster timestamps, times and addresses. */
  private static String plain(Object o) {
    String s = String.valueOf(o).split("\n\tat ")[0];
    return s.replaceAll("_\\d{13}_", "_TS_").replaceAll("\\b\\d{13}\\b", "TIME").replaceAll("container_e\\d+_", "container_")
        .replaceAll("(127\\.0\\.0\\.1|localhost):\\d+", "ADDRESS").replace('\n', '|').replace('\t', ' ');
  }

  private static void say(String name, Case c) {
    String came;
    try {
      came = plain(c.run());
    } catch (Throwable e) {
      came = "throws " + e.getClass().getName() + ": " + plain(e.getMessage());
    }
    System.out.println("case\t" + name + "\t" + came);
  }

  private static Map<String, Object> fields(Object... pairs) {
    Map<String, Object> out = new java.util.LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      out.put((String) pairs[i], pairs[i + 1]);
    }
    return out;
  }

  private static Object text(ApplicationReport r) {
    return fields("id", r.getApplicationId(), "attempt", r.getCurrentApplicationAttemptId(), "name", r.getName(),
        "user", r.getUser() != null, "queue", r.getQueue(), "type", r.getApplicationType(), "tags",
        new TreeSet<>(r.getApplicationTags()), "state", r.getYarnApplicationState(), "final",
        r.getFinalApplicationStatus(), "progress", r.getProgress(), "host", r.getHost(), "port",
        r.getRpcPort(), "diagnostics", r.getDiagnostics(), "started", r.getStartTime() > 0, "submitted",
        r.getSubmitTime() > 0, "launched", r.getLaunchTime() > 0, "finished", r.getFinishTime() > 0, "priority",
        r.getPriority(), "unmanaged", r.isUnmanagedApp(), "token", r.getAMRMToken() != null, "client token",
        r.getClientToAMToken() != null, "tracked", r.getTrackingUrl() == null ? null : r.getTrackingUrl()
            .replaceAll("https?://[^/]*", "URL"), "original", r.getOriginalTrackingUrl(), "logs",
        r.getLogAggregationStatus(), "app label", r.getAppNodeLabelExpression(), "am label",
        r.getAmNodeLabelExpression(), "timeouts", new TreeMap<>(r.getApplicationTimeouts()), "usage",
        r.getApplicationResourceUsageReport() == null ? null : fields("used",
            r.getApplicationResourceUsageReport().getUsedResources(), "reserved",
            r.getApplicationResourceUsageReport().getReservedResources(), "needed",
            r.getApplicationResourceUsageReport().getNeededResources(), "containers",
            r.getApplicationResourceUsageReport().getNumUsedContainers(), "reserved containers",
            r.getApplicationResourceUsageReport().getNumReservedContainers()));
  }

  private static Object list(Collection<ApplicationReport> all) {
    Map<Object, Object> out = new TreeMap<>();
    for (ApplicationReport r : all) {
      out.put(r.getApplicationId().getId(), r.getName() + " " + r.getYarnApplicationState());
    }
    return out;
  }

  private static Object text(ApplicationAttemptReport r) {
    return fields("id", r.getApplicationAttemptId(), "state", r.getYarnApplicationAttemptState(), "host",
        r.getHost(), "port", r.getRpcPort(), "diagnostics", r.getDiagnostics(), "container", r.getAMContainerId(),
        "original", r.getOriginalTrackingUrl(), "started", r.getStartTime() > 0, "finished", r.getFinishTime() > 0);
  }

  private static Object text(ContainerReport r) {
    return fields("id", r.getContainerId(), "state", r.getContainerState(), "resource", r.getAllocatedResource(),
        "priority", r.getPriority(), "exit", r.getContainerExitStatus(), "execution", r.getExecutionType(),
        "diagnostics", r.getDiagnosticsInfo(), "node", r.getAssignedNode() != null, "http",
        r.getNodeHttpAddress() != null, "logs", r.getLogUrl() != null, "created", r.getCreationTime() > 0,
        "finished", r.getFinishTime() > 0, "ports", r.getExposedPorts());
  }

  private static Object text(NodeReport r) {
    return fields("state", r.getNodeState(), "rack", r.getRackName(), "used", r.getUsed(), "capability",
        r.getCapability(), "containers", r.getNumContainers(), "health", r.getHealthReport(), "labels",
        r.getNodeLabels(), "attributes", r.getNodeAttributes(), "updates", r.getNodeUpdateType(),
        "decommissioning", r.getDecommissioningTimeout(), "http", r.getHttpAddress() != null, "use",
        r.getNodeUtilization() != null, "containers' use", r.getAggregatedContainersUtilization() != null);
  }

  private static Object text(QueueInfo q) {
    if (q == null) {
      return null;
    }
    Map<String, Object> children = new TreeMap<>();
    for (QueueInfo c : q.getChildQueues()) {
      children.put(c.getQueuePath(), text(c));
    }
    return fields("name", q.getQueueName(), "path", q.getQueuePath(), "capacity", q.getCapacity(), "maximum",
        q.getMaximumCapacity(), "weight", q.getWeight(), "state", q.getQueueState(), "scheduler",
        q.getSchedulerType(), "labels", q.getAccessibleNodeLabels(), "default label",
        q.getDefaultNodeLabelExpression(), "no preemption", q.getPreemptionDisabled(), "none inside",
        q.getIntraQueuePreemptionDisabled(), "configurations", q.getQueueConfigurations() == null ? null
            : q.getQueueConfigurations().keySet(), "min vcores", q.getMinResourceVCore(), "apps",
        list(q.getApplications()), "children", children);
  }

  private static Object names(List<QueueInfo> all) {
    TreeSet<String> out = new TreeSet<>();
    for (QueueInfo q : all) {
      out.add(q.getQueueName() + " " + q.getQueuePath() + " of " + q.getChildQueues().size());
    }
    return out;
  }

  private static Object text(YarnClusterMetrics m) {
    return fields("nodes", m.getNumNodeManagers(), "active", m.getNumActiveNodeManagers(), "lost",
        m.getNumLostNodeManagers(), "gone", m.getNumDecommissionedNodeManagers(), "going",
        m.getNumDecommissioningNodeManagers(), "unhealthy", m.getNumUnhealthyNodeManagers(), "rebooted",
        m.getNumRebootedNodeManagers(), "stopped", m.getNumShutdownNodeManagers());
  }

  // ---- Applications ----

  /** Its ApplicationMaster ignores SIGQUIT, which a later case sends: else the application could have FAILED before it is
   * killed. */
  private ApplicationSubmissionContext context(YarnClientApplication app, String name) {
    ApplicationSubmissionContext c = app.getApplicationSubmissionContext();
    c.setApplicationName(name);
    c.setApplicationType("PROBE");
    c.setApplicationTags(new HashSet<>(Arrays.asList("one", "two")));
    c.setQueue("default");
    c.setPriority(Priority.newInstance(0));
    c.setMaxAppAttempts(1);
    c.setResource(Resource.newInstance(256, 1));
    c.setAMContainerSpec(ContainerLaunchContext.newInstance(new HashMap<>(), new HashMap<>(),
        Collections.singletonList("trap '' QUIT; exec sleep 600"), new HashMap<>(), (ByteBuffer) null, new HashMap<>()));
    return c;
  }

  private interface Condition {
    boolean holds() throws Exception;
  }

  private void until(String what, Condition c) throws Exception {
    for (int i = 0; i < 2400; i++) {
      if (c.holds()) {
        return;
      }
      Thread.sleep(50); // the interval of a poll, not a wait
    }
    throw new IllegalStateException("not within 120 s: " + what);
  }

  private void untilState(ApplicationId id, YarnApplicationState... states) throws Exception {
    until(id + " is " + Arrays.toString(states), () -> {
      ApplicationReport r = yarn.getApplicationReport(id);
      if (Arrays.asList(states).contains(r.getYarnApplicationState())) {
        return true;
      }
      if (r.getFinishTime() > 0) {
        throw new IllegalStateException(id + " has ended as " + r.getYarnApplicationState() + ": " + r.getDiagnostics());
      }
      return false;
    });
  }

  /** An application whose ApplicationMaster runs and never registers. */
  private ApplicationId managed() throws Exception {
    YarnClientApplication app = yarn.createApplication();
    say("new application", () -> fields("id", app.getNewApplicationResponse().getApplicationId().getId(), "maximum",
        app.getNewApplicationResponse().getMaximumResourceCapability()));
    ApplicationSubmissionContext c = context(app, "managed");
    say("submit", () -> yarn.submitApplication(c));
    ApplicationId id = c.getApplicationId();
    until("the master runs", () -> {
      ApplicationReport r = yarn.getApplicationReport(id);
      if (r.getFinalApplicationStatus() != FinalApplicationStatus.UNDEFINED) {
        throw new IllegalStateException(r.getDiagnostics());
      }
      List<ApplicationAttemptReport> all = yarn.getApplicationAttempts(id);
      if (all.isEmpty() || all.get(0).getYarnApplicationAttemptState() != YarnApplicationAttemptState.LAUNCHED) {
        return false;
      }
      List<ContainerReport> containers = yarn.getContainers(all.get(0).getApplicationAttemptId());
      return !containers.isEmpty()
          && containers.get(0).getContainerState() == org.apache.hadoop.yarn.api.records.ContainerState.RUNNING;
    });
    say("submit again", () -> yarn.submitApplication(c));
    return id;
  }

  /** An application with this program as its ApplicationMaster: registered, then finished. */
  private ApplicationId unmanaged() throws Exception {
    ApplicationSubmissionContext c = context(yarn.createApplication(), "unmanaged");
    c.setUnmanagedAM(true);
    yarn.submitApplication(c);
    ApplicationId id = c.getApplicationId();
    untilState(id, YarnApplicationState.ACCEPTED, YarnApplicationState.FAILED);
    until("the attempt is launched", () -> !yarn.getApplicationAttempts(id).isEmpty() && yarn.getApplicationAttempts(id)
        .get(0).getYarnApplicationAttemptState() == YarnApplicationAttemptState.LAUNCHED);
    say("unmanaged: report before registration", () -> text(yarn.getApplicationReport(id)));
    say("unmanaged: getAMRMToken", () -> yarn.getAMRMToken(id).getKind());
    Token<?> token = yarn.getAMRMToken(id);
    UserGroupInformation master = UserGroupInformation.createRemoteUser(
        yarn.getApplicationAttempts(id).get(0).getApplicationAttemptId().toString());
    // As AMRMClient does with a token of its environment.
    token.setService(org.apache.hadoop.yarn.client.ClientRMProxy.getAMRMTokenService(conf));
    master.addToken(token);
    master.doAs((java.security.PrivilegedExceptionAction<Void>) () -> {
      AMRMClient<AMRMClient.ContainerRequest> am = AMRMClient.createAMRMClient();
      am.init(conf);
      am.start();
      say("unmanaged: register", () -> am.registerApplicationMaster("there", 4711, "http://there/ui")
          .getMaximumResourceCapability());
      say("unmanaged: report when registered", () -> text(yarn.getApplicationReport(id)));
      say("unmanaged: allocate", () -> {
        am.allocate(0.25f);
        return yarn.getApplicationReport(id).getProgress();
      });
      say("unmanaged: attempt", () -> text(yarn.getApplicationAttempts(id).get(0)));
      say("unmanaged: containers", () -> yarn.getContainers(yarn.getApplicationAttempts(id).get(0)
          .getApplicationAttemptId()).size());
      say("unmanaged: finish", () -> {
        am.unregisterApplicationMaster(FinalApplicationStatus.SUCCEEDED, "well done", "http://there/history");
        return "done";
      });
      am.stop();
      return null;
    });
    untilState(id, YarnApplicationState.FINISHED);
    say("unmanaged: report at the end", () -> text(yarn.getApplicationReport(id)));
    say("unmanaged: kill after the end", () -> {
      yarn.killApplication(id);
      return "done";
    });
    return id;
  }

  // ---- Cases ----

  private void lists(ApplicationId managed) throws Exception {
    say("getApplications", () -> list(yarn.getApplications()));
    say("getApplications of type", () -> list(yarn.getApplications(Collections.singleton("probe"))));
    say("getApplications of another type", () -> list(yarn.getApplications(Collections.singleton("MAPREDUCE"))));
    say("getApplications in state", () -> list(yarn.getApplications(EnumSet.of(YarnApplicationState.ACCEPTED))));
    say("getApplications of type in state", () -> list(yarn.getApplications(Collections.singleton("PROBE"),
        EnumSet.of(YarnApplicationState.FINISHED))));
    say("getApplications with tags", () -> list(yarn.getApplications(Collections.singleton("PROBE"),
        EnumSet.allOf(YarnApplicationState.class), Collections.singleton("two"))));
    say("getApplications with other tags", () -> list(yarn.getApplications(Collections.singleton("PROBE"),
        EnumSet.allOf(YarnApplicationState.class), Collections.singleton("three"))));
    say("getApplications of queue", () -> list(yarn.getApplications(Collections.singleton("default"), null, null,
        EnumSet.allOf(YarnApplicationState.class))));
    say("getApplications of another user", () -> list(yarn.getApplications(null, Collections.singleton("nobody"), null,
        EnumSet.allOf(YarnApplicationState.class))));
    GetApplicationsRequest q = GetApplicationsRequest.newInstance();
    q.setLimit(1);
    say("getApplications at most one", () -> yarn.getApplications(q).size());
    q.setLimit(10);
    q.setScope(ApplicationsRequestScope.OWN);
    say("getApplications own", () -> list(yarn.getApplications(q)));
    q.setName("managed");
    say("getApplications by name", () -> list(yarn.getApplications(q)));
    q.setStartRange(1, 2);
    say("getApplications started long ago", () -> list(yarn.getApplications(q)));
  }

  private void cluster() throws Exception {
    say("getYarnClusterMetrics", () -> text(yarn.getYarnClusterMetrics()));
    say("getNodeReports", () -> {
      List<Object> all = new ArrayList<>();
      yarn.getNodeReports().forEach(r -> all.add(text(r)));
      return all;
    });
    say("getNodeReports LOST", () -> yarn.getNodeReports(NodeState.LOST).size());
    for (String queue : new String[] {"root", "default", "root.default", "nowhere"}) {
      say("getQueueInfo " + queue, () -> text(yarn.getQueueInfo(queue)));
    }
    say("getQueueInfo of a cluster", () -> text(yarn.getQueueInfo("default", "elsewhere")));
    say("getAllQueues", () -> names(yarn.getAllQueues()));
    say("getRootQueueInfos", () -> names(yarn.getRootQueueInfos()));
    say("getChildQueueInfos root", () -> names(yarn.getChildQueueInfos("root")));
    say("getChildQueueInfos nowhere", () -> names(yarn.getChildQueueInfos("nowhere")));
    say("getQueueAclsInfo", () -> {
      TreeSet<String> out = new TreeSet<>();
      for (QueueUserACLInfo i : yarn.getQueueAclsInfo()) {
        out.add(i.getQueueName() + " " + new TreeSet<>(i.getUserAcls()));
      }
      return out;
    });
    say("getNodeToLabels", () -> yarn.getNodeToLabels());
    say("getLabelsToNodes", () -> yarn.getLabelsToNodes());
    say("getLabelsToNodes of some", () -> yarn.getLabelsToNodes(Collections.singleton("gpu")));
    say("getClusterNodeLabels", () -> yarn.getClusterNodeLabels());
    say("getClusterAttributes", () -> yarn.getClusterAttributes());
    say("getAttributesToNodes", () -> yarn.getAttributesToNodes(null));
    say("getNodeToAttributes", () -> yarn.getNodeToAttributes(null));
    say("getNodeToAttributes of an unknown node", () -> yarn.getNodeToAttributes(Collections.singleton("nowhere")));
    say("getResourceTypeInfo", () -> yarn.getResourceTypeInfo());
    say("getResourceProfiles", () -> yarn.getResourceProfiles());
    say("getResourceProfile", () -> yarn.getResourceProfile("minimum"));
    say("getRMDelegationToken", () -> yarn.getRMDelegationToken(new Text("renewer")));
  }

  private void reservations() throws Exception {
    ReservationId id = ReservationId.newInstance(1700000000000L, 1);
    say("createReservation", () -> yarn.createReservation());
    say("submitReservation", () -> yarn.submitReservation(
        ReservationSubmissionRequest.newInstance(null, "default", id)));
    say("deleteReservation", () -> yarn.deleteReservation(ReservationDeleteRequest.newInstance(id)));
    say("listReservations", () -> yarn.listReservations(
        ReservationListRequest.newInstance("default", id.toString())));
  }

  private void unknown() throws Exception {
    ApplicationId app = ApplicationId.newInstance(1700000000000L, 77);
    ApplicationAttemptId attempt = ApplicationAttemptId.newInstance(app, 1);
    ContainerId container = ContainerId.newContainerId(attempt, 5);
    say("unknown: getApplicationReport", () -> yarn.getApplicationReport(app));
    say("unknown: getAMRMToken", () -> yarn.getAMRMToken(app));
    say("unknown: getApplicationAttempts", () -> yarn.getApplicationAttempts(app));
    say("unknown: getApplicationAttemptReport", () -> yarn.getApplicationAttemptReport(attempt));
    say("unknown: getContainers", () -> yarn.getContainers(attempt));
    say("unknown: getContainerReport", () -> yarn.getContainerReport(container));
    say("unknown: killApplication", () -> done(() -> yarn.killApplication(app)));
    say("unknown: killApplication with words", () -> done(() -> yarn.killApplication(app, "why")));
    say("unknown: failApplicationAttempt", () -> done(() -> yarn.failApplicationAttempt(attempt)));
    say("unknown: moveApplicationAcrossQueues", () -> done(() -> yarn.moveApplicationAcrossQueues(app, "default")));
    say("unknown: updateApplicationPriority", () -> yarn.updateApplicationPriority(app, Priority.newInstance(1)));
    say("unknown: updateApplicationTimeouts", () -> yarn.updateApplicationTimeouts(
        UpdateApplicationTimeoutsRequest.newInstance(app, Collections.singletonMap(
            ApplicationTimeoutType.LIFETIME, "2099-01-01T00:00:00.000+0000"))));
    say("unknown: signalToContainer", () -> done(() ->
        yarn.signalToContainer(container, SignalContainerCommand.OUTPUT_THREAD_DUMP)));
    ApplicationSubmissionContext stray = context(yarn.createApplication(), "stray");
    stray.setQueue("nowhere");
    say("submit to an unknown queue", () -> yarn.submitApplication(stray));
    ApplicationSubmissionContext large = context(yarn.createApplication(), "large");
    large.setResource(Resource.newInstance(1 << 30, 1));
    say("submit with too large a master", () -> yarn.submitApplication(large));
    ApplicationSubmissionContext label = context(yarn.createApplication(), "label");
    label.setNodeLabelExpression("gpu");
    say("submit with an unknown label", () -> yarn.submitApplication(label));
    ApplicationSubmissionContext tagged = context(yarn.createApplication(), "tagged");
    tagged.setApplicationTags(new HashSet<>(Arrays.asList("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11")));
    say("submit with eleven tags", () -> yarn.submitApplication(tagged));
    for (ApplicationSubmissionContext c : new ApplicationSubmissionContext[] {label, tagged}) {
      try {
        yarn.killApplication(c.getApplicationId());
      } catch (YarnException refused) {
        continue; // as it should have been
      }
    }
  }

  private interface Act {
    void run() throws Exception;
  }

  private static String done(Act a) throws Exception {
    a.run();
    return "done";
  }

  private void of(ApplicationId id) throws Exception {
    ApplicationAttemptId attempt = ApplicationAttemptId.newInstance(id, 1);
    ContainerId master = yarn.getContainers(attempt).get(0).getContainerId();
    say("getApplicationReport", () -> text(yarn.getApplicationReport(id)));
    say("getAMRMToken of a managed one", () -> yarn.getAMRMToken(id));
    say("getApplicationAttempts", () -> text(yarn.getApplicationAttempts(id).get(0)));
    say("getApplicationAttemptReport", () -> text(yarn.getApplicationAttemptReport(attempt)));
    say("getApplicationAttemptReport of attempt 2", () -> yarn.getApplicationAttemptReport(
        ApplicationAttemptId.newInstance(id, 2)));
    say("getContainers of attempt 2", () -> yarn.getContainers(ApplicationAttemptId.newInstance(id, 2)));
    say("getContainers", () -> text(yarn.getContainers(attempt).get(0)));
    say("getContainerReport", () -> text(yarn.getContainerReport(master)));
    say("getContainerReport of an unknown one", () -> yarn.getContainerReport(ContainerId.newContainerId(attempt, 99)));
    say("moveApplicationAcrossQueues nowhere", () -> done(() -> yarn.moveApplicationAcrossQueues(id, "nowhere")));
    say("moveApplicationAcrossQueues default", () -> done(() -> yarn.moveApplicationAcrossQueues(id, "default")));
    say("updateApplicationPriority", () -> yarn.updateApplicationPriority(id, Priority.newInstance(5)));
    say("updateApplicationTimeouts that have passed", () -> yarn.updateApplicationTimeouts(
        UpdateApplicationTimeoutsRequest.newInstance(id, Collections.singletonMap(
            ApplicationTimeoutType.LIFETIME, "2001-01-01T00:00:00.000+0000"))));
    say("updateApplicationTimeouts that are no date", () -> yarn.updateApplicationTimeouts(
        UpdateApplicationTimeoutsRequest.newInstance(id, Collections.singletonMap(
            ApplicationTimeoutType.LIFETIME, "soon"))));
    say("updateApplicationTimeouts", () -> yarn.updateApplicationTimeouts(
        UpdateApplicationTimeoutsRequest.newInstance(id, Collections.singletonMap(
            ApplicationTimeoutType.LIFETIME, "2099-01-01T00:00:00.000+0000"))).getApplicationTimeouts());
    say("signalToContainer of an unknown one", () -> done(() -> yarn.signalToContainer(
        ContainerId.newContainerId(attempt, 99), SignalContainerCommand.OUTPUT_THREAD_DUMP)));
    say("signalToContainer", () -> done(() ->
        yarn.signalToContainer(master, SignalContainerCommand.OUTPUT_THREAD_DUMP)));
    say("killApplication with words", () -> done(() -> yarn.killApplication(id, "enough of it")));
    untilState(id, YarnApplicationState.KILLED);
    say("killed: report", () -> text(yarn.getApplicationReport(id)));
    say("killed: attempt", () -> text(yarn.getApplicationAttempts(id).get(0)));
    say("killed: failApplicationAttempt", () -> done(() -> yarn.failApplicationAttempt(attempt)));
    say("killed: moveApplicationAcrossQueues", () -> done(() -> yarn.moveApplicationAcrossQueues(id, "default")));
    say("killed: updateApplicationPriority", () -> yarn.updateApplicationPriority(id, Priority.newInstance(5)));
    say("killed: updateApplicationTimeouts", () -> yarn.updateApplicationTimeouts(
        UpdateApplicationTimeoutsRequest.newInstance(id, Collections.singletonMap(
            ApplicationTimeoutType.LIFETIME, "2099-01-01T00:00:00.000+0000"))));
    say("killed: signalToContainer", () -> done(() ->
        yarn.signalToContainer(master, SignalContainerCommand.FORCEFUL_SHUTDOWN)));
  }

  private void failed() throws Exception {
    YarnClientApplication app = yarn.createApplication();
    ApplicationSubmissionContext c = context(app, "failed");
    yarn.submitApplication(c);
    ApplicationId id = c.getApplicationId();
    until("the master is launched", () -> !yarn.getApplicationAttempts(id).isEmpty() && yarn.getApplicationAttempts(id)
        .get(0).getYarnApplicationAttemptState() == YarnApplicationAttemptState.LAUNCHED);
    say("failApplicationAttempt", () -> done(() ->
        yarn.failApplicationAttempt(ApplicationAttemptId.newInstance(id, 1))));
    untilState(id, YarnApplicationState.FAILED);
    say("failed: state", () -> yarn.getApplicationReport(id).getFinalApplicationStatus());
  }

  public static void main(String[] args) throws Exception {
    ClientProbe p = new ClientProbe();
    p.conf.setInt("yarn.client.application-client-protocol.poll-interval-ms", 50);
    p.conf.setInt("yarn.resourcemanager.connect.max-wait.ms", 600); // an IOException is tried again
    p.conf.setInt("yarn.resourcemanager.connect.retry-interval.ms", 300);
    p.yarn.init(p.conf);
    p.yarn.start();
    ApplicationId managed = p.managed();
    p.unmanaged();
    p.lists(managed);
    p.cluster();
    p.reservations();
    p.unknown();
    p.of(managed);
    p.failed();
    p.yarn.stop();
    System.out.println("end");
    System.exit(0);
  }
}
