import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.lang.reflect.UndeclaredThrowableException;
import java.nio.ByteBuffer;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.security.token.TokenIdentifier;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterResponse;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.ContainerSubState;
import org.apache.hadoop.yarn.api.records.ContainerUpdateType;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.LocalResource;
import org.apache.hadoop.yarn.api.records.LocalResourceType;
import org.apache.hadoop.yarn.api.records.LocalResourceVisibility;
import org.apache.hadoop.yarn.api.records.LocalizationState;
import org.apache.hadoop.yarn.api.records.LocalizationStatus;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.URL;
import org.apache.hadoop.yarn.api.records.UpdateContainerError;
import org.apache.hadoop.yarn.api.records.UpdateContainerRequest;
import org.apache.hadoop.yarn.api.records.UpdatedContainer;
import org.apache.hadoop.yarn.client.ClientRMProxy;
import org.apache.hadoop.yarn.client.api.AMRMClient;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.client.api.NMClient;
import org.apache.hadoop.yarn.client.api.NMTokenCache;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;

/**
 * AMRMClient and NMClient: what a ResourceManager and a NodeManager answer to an ApplicationMaster, as lines "case TAB NAME TAB RESULT"
 * without what differs from run to run. Driven by tests/interop/cases/masters.py.
 *
 * The ApplicationMasters are containers of the cluster whose process sends its token here and then does what it is told; the calls
 * are made here. Containers are shells that do what they are told, too.
 */
public final class MasterProbe {
  private static final Resource SMALL = Resource.newInstance(128, 1);
  private final Configuration conf = new YarnConfiguration();
  private final YarnClient yarn = YarnClient.createYarnClient();

  private MasterProbe() {
  }

  // ---- Printing results ----

  private interface Case {
    Object run() throws Exception;
  }

  private static String plain(Object o) {
    String s = String.valueOf(o).split("\n\tat ")[0];
    return s.replaceAll("_\\d{13}_", "_TS_").replaceAll("container_e\\d+_", "container_").replaceAll("_\\d{4}_", "_APP_")
        .replaceAll("\\[?\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d+\\]?", "DATE ").replaceAll("(127\\.0\\.0\\.1|localhost)(:\\d+)?", "NODE")
        .replace('\n', '|').replace('\t', ' ');
  }

  private static void say(String name, Case c) {
    String came;
    try {
      came = plain(c.run());
    } catch (Throwable e) {
      Throwable t = e instanceof UndeclaredThrowableException ? e.getCause() : e; // of doAs
      came = "throws " + t.getClass().getName() + ": " + plain(t.getMessage());
    }
    System.out.println("case\t" + name + "\t" + came);
  }

  private static Map<String, Object> fields(Object... pairs) {
    Map<String, Object> out = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      out.put((String) pairs[i], pairs[i + 1]);
    }
    return out;
  }

  private static Object text(Container c) {
    return fields("resource", c.getResource(), "priority", c.getPriority(), "execution", c.getExecutionType(), "allocation id",
        c.getAllocationRequestId(), "version", c.getVersion(), "tags", c.getAllocationTags(), "node", c.getNodeId() != null,
        "http", c.getNodeHttpAddress() != null, "token", c.getContainerToken().getKind(), "ports", c.getExposedPorts());
  }

  private static Object text(ContainerStatus s) {
    return fields("state", s.getState(), "exit", s.getExitStatus(), "diagnostics", s.getDiagnostics(), "execution",
        s.getExecutionType(), "capability", s.getCapability());
  }

  // ---- Shells in containers ----

  private static ContainerLaunchContext shell(int port, String first) {
    String command = "exec 3<>/dev/tcp/127.0.0.1/" + port + "; " + first + "; exec bash <&3";
    return ContainerLaunchContext.newInstance(new HashMap<>(), new HashMap<>(), Collections.singletonList(command),
        new HashMap<>(), (ByteBuffer) null, new HashMap<>());
  }

  private static ServerSocket listener() throws Exception {
    ServerSocket s = new ServerSocket(0, 4, InetAddress.getLoopbackAddress());
    s.setSoTimeout(120_000);
    return s;
  }

  /** A container that runs until it is told to end, or is ended. */
  private static final class Task {
    final Container container;
    private Socket socket;

    Task(Container container) {
      this.container = container;
    }

    void start(NMClient node) throws Exception {
      try (ServerSocket s = listener()) {
        node.startContainer(container, shell(s.getLocalPort(), "echo up >&3"));
        socket = s.accept();
        new BufferedReader(new InputStreamReader(socket.getInputStream())).readLine();
      }
    }

    void exit(int code) throws Exception {
      new PrintWriter(socket.getOutputStream(), true).println("exit " + code);
    }
  }

  // ---- An ApplicationMaster ----

  private interface Condition {
    boolean holds() throws Exception;
  }

  private static void until(String what, Condition c) throws Exception {
    for (int i = 0; i < 2400; i++) {
      if (c.holds()) {
        return;
      }
      Thread.sleep(50); // the interval of a poll, not a wait
    }
    throw new IllegalStateException("not within 120 s: " + what);
  }

  private final class Master {
    final ApplicationId id;
    private final ServerSocket server = listener();
    private Socket attempt;
    private UserGroupInformation self;
    AMRMClient<ContainerRequest> am;
    NMClient node;
    RegisterApplicationMasterResponse registered;
    final Map<ContainerId, ContainerStatus> ended = new HashMap<>();
    final List<Container> granted = new ArrayList<>();
    AllocateResponse last;

    Master(String name, boolean keep) throws Exception {
      ApplicationSubmissionContext c = yarn.createApplication().getApplicationSubmissionContext();
      c.setApplicationName(name);
      c.setQueue("default");
      c.setPriority(Priority.newInstance(0));
      c.setMaxAppAttempts(keep ? 2 : 1);
      c.setKeepContainersAcrossApplicationAttempts(keep);
      c.setResource(Resource.newInstance(128, 1));
      c.setAMContainerSpec(shell(server.getLocalPort(), "base64 -w0 $HADOOP_TOKEN_FILE_LOCATION >&3; echo >&3"));
      id = c.getApplicationId();
      yarn.submitApplication(c);
    }

    private void act(Runner r) throws Exception {
      self.doAs((PrivilegedExceptionAction<Void>) () -> {
        r.run();
        return null;
      });
    }

    /** Waits for the next attempt's process and registers with its token. */
    void register() throws Exception {
      attempt = server.accept();
      String line = new BufferedReader(new InputStreamReader(attempt.getInputStream())).readLine();
      Credentials credentials = new Credentials();
      credentials.readTokenStorageStream(new DataInputStream(new ByteArrayInputStream(Base64.getDecoder().decode(line))));
      for (Token<? extends TokenIdentifier> token : credentials.getAllTokens()) {
        if (token.getKind().equals(AMRMTokenIdentifier.KIND_NAME)) {
          token.setService(ClientRMProxy.getAMRMTokenService(conf));
          self = UserGroupInformation.createRemoteUser(((AMRMTokenIdentifier) token.decodeIdentifier())
              .getApplicationAttemptId().toString());
          self.addToken(token);
        }
      }
      act(() -> {
        NMTokenCache tokens = new NMTokenCache();
        am = AMRMClient.createAMRMClient();
        am.setNMTokenCache(tokens);
        am.init(conf);
        am.start();
        node = NMClient.createNMClient();
        node.setNMTokenCache(tokens);
        node.cleanupRunningContainersOnStop(false);
        node.init(conf);
        node.start();
        registered = am.registerApplicationMaster("localhost", 4711, "");
      });
    }

    /** One call of allocate: what came is kept. */
    AllocateResponse beat() throws Exception {
      act(() -> last = am.allocate(0.5f));
      granted.addAll(last.getAllocatedContainers());
      last.getCompletedContainersStatuses().forEach(s -> ended.put(s.getContainerId(), s));
      return last;
    }

    ContainerRequest ask(int priority, long allocation, Resource size, String... hosts) {
      ContainerRequest q = ContainerRequest.newBuilder().capability(size).priority(Priority.newInstance(priority))
          .allocationRequestId(allocation).nodes(hosts.length == 0 ? null : hosts).relaxLocality(hosts.length == 0).build();
      am.addContainerRequest(q);
      return q;
    }

    /** Asks for one container of each id and waits for them; in the order of the ids. */
    List<Container> get(int priority, Resource size, long... allocations) throws Exception {
      List<ContainerRequest> asked = new ArrayList<>();
      for (long a : allocations) {
        asked.add(ask(priority, a, size));
      }
      List<Container> got = collect(asked.size());
      asked.forEach(am::removeContainerRequest);
      got.sort((x, y) -> Long.compare(x.getAllocationRequestId(), y.getAllocationRequestId()));
      return got;
    }

    List<Container> collect(int n) throws Exception {
      until(n + " containers of " + id, () -> {
        beat();
        return granted.size() >= n;
      });
      List<Container> got = new ArrayList<>(granted);
      granted.clear();
      return got;
    }

    Task task(int priority) throws Exception {
      Task t = new Task(get(priority, SMALL, 0).get(0));
      act(() -> t.start(node));
      return t;
    }

    ContainerStatus end(ContainerId c) throws Exception {
      until(c + " is over", () -> {
        beat();
        return ended.containsKey(c);
      });
      return ended.get(c);
    }

    Object onNode(Container c) throws Exception {
      Object[] found = new Object[1];
      act(() -> found[0] = node.getContainerStatus(c.getId(), c.getNodeId()).getState());
      return found[0];
    }

    /** The end of the attempt's process, as of one that fails. */
    void fail() throws Exception {
      new PrintWriter(attempt.getOutputStream(), true).println("exit 1");
      am.stop();
      node.stop();
    }

    void finish() throws Exception {
      act(() -> am.unregisterApplicationMaster(FinalApplicationStatus.SUCCEEDED, "", ""));
      attempt.close();
      server.close();
      am.stop();
      node.stop();
    }

    void kill() throws Exception {
      yarn.killApplication(id);
      attempt.close();
      server.close();
      am.stop();
      node.stop();
    }
  }

  private interface Runner {
    void run() throws Exception;
  }

  // ---- Cases ----

  private void asks(Master m) throws Exception {
    say("register", () -> fields("maximum", m.registered.getMaximumResourceCapability(), "queue", m.registered.getQueue(), "acls",
        m.registered.getApplicationACLs().size(), "previous", m.registered.getContainersFromPreviousAttempts(), "tokens",
        m.registered.getNMTokensFromPreviousAttempts(), "kinds", new TreeSet<>(m.registered.getSchedulerResourceTypes()), "types",
        m.registered.getResourceTypes(), "profiles", m.registered.getResourceProfiles().size(), "key",
        m.registered.getClientToAMTokenMasterKey()));
    say("an empty allocate", () -> {
      AllocateResponse r = m.beat();
      return fields("limit", r.getAvailableResources(), "nodes", r.getNumClusterNodes(), "updates", r.getUpdatedNodes(), "command",
          r.getAMCommand(), "preemption", r.getPreemptionMessage(), "priority", r.getApplicationPriority(), "collector",
          r.getCollectorInfo(), "previous", r.getContainersFromPreviousAttempts(), "rejected", r.getRejectedSchedulingRequests());
    });
    say("one container", () -> text(m.get(1, SMALL, 0).get(0)));
    say("the limit with it", () -> m.beat().getAvailableResources());
    say("a size between two steps", () -> m.get(2, Resource.newInstance(130, 1), 0).get(0).getResource());
    say("three allocation ids", () -> {
      List<Long> ids = new ArrayList<>();
      m.get(3, SMALL, 9, 7, 8).forEach(c -> ids.add(c.getAllocationRequestId()));
      return ids;
    });
    say("two of one allocation id, one of another, of another size", () -> {
      List<ContainerRequest> asked = Arrays.asList(m.ask(4, 7, SMALL), m.ask(4, 7, SMALL), m.ask(4, 8, Resource.newInstance(256, 2)));
      List<String> got = new ArrayList<>();
      m.collect(3).forEach(c -> got.add(c.getAllocationRequestId() + " " + c.getResource()));
      asked.forEach(m.am::removeContainerRequest);
      Collections.sort(got);
      return got;
    });
    say("on a host and nowhere else", () -> {
      String host = m.get(5, SMALL, 0).get(0).getNodeId().getHost();
      ContainerRequest q = m.ask(6, 0, SMALL, host);
      String got = m.collect(1).get(0).getNodeId().getHost();
      m.am.removeContainerRequest(q);
      return got.equals(host);
    });
    say("a request that is taken back", () -> {
      m.am.removeContainerRequest(m.ask(7, 0, SMALL));
      m.am.addContainerRequest(ContainerRequest.newBuilder().capability(SMALL).priority(Priority.newInstance(8)).build());
      List<Integer> got = new ArrayList<>();
      m.collect(1).forEach(c -> got.add(c.getPriority().getPriority()));
      return got;
    });
  }

  private void releases(Master m) throws Exception {
    say("release before the start", () -> {
      Container c = m.get(10, SMALL, 0).get(0);
      m.am.releaseAssignedContainer(c.getId());
      return text(m.end(c.getId()));
    });
    say("release of a running container", () -> {
      Task t = m.task(11);
      m.am.releaseAssignedContainer(t.container.getId());
      return text(m.end(t.container.getId()));
    });
    say("release again", () -> {
      Container c = m.get(12, SMALL, 0).get(0);
      m.am.releaseAssignedContainer(c.getId());
      m.end(c.getId());
      m.ended.clear();
      m.am.releaseAssignedContainer(c.getId());
      m.beat();
      return m.beat().getCompletedContainersStatuses().size() + m.ended.size();
    });
    say("the limit without them", () -> m.beat().getAvailableResources());
  }

  private void nodeManager(Master m) throws Exception {
    Task t = m.task(20);
    say("status of a running container", () -> text(status(m, t.container)));
    say("start again", () -> {
      m.act(() -> m.node.startContainer(t.container, shell(1, "true")));
      return "done";
    });
    say("stop", () -> {
      m.act(() -> m.node.stopContainer(t.container.getId(), t.container.getNodeId()));
      return text(m.end(t.container.getId()));
    });
    say("start after the end", () -> {
      m.act(() -> m.node.startContainer(t.container, shell(1, "true")));
      return "done";
    });
    say("exit codes", () -> {
      List<Object> codes = new ArrayList<>();
      for (int code : new int[] {0, 7}) {
        Task one = m.task(21);
        one.exit(code);
        codes.add(m.end(one.container.getId()).getExitStatus());
      }
      return codes;
    });
    Container never = m.get(22, SMALL, 0).get(0);
    say("status of a container that was not started", () -> text(status(m, never)));
    say("stop of a container that was not started", () -> {
      m.act(() -> m.node.stopContainer(never.getId(), never.getNodeId()));
      return "done";
    });
  }

  // ---- Re-initialization ----

  /**
   * A process of a container that is re-initialized: each tells its name. What the last one left is not compared: Apache's node draws another of its
   * directories each time.
   */
  private static final class Versions implements AutoCloseable {
    private final ServerSocket server = listener();
    private Socket socket;
    private BufferedReader in;

    Versions() throws Exception {
    }

    ContainerLaunchContext context(String name) {
      return shell(server.getLocalPort(), "echo " + name + " >&3");
    }

    String next() throws Exception {
      socket = server.accept();
      in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
      return in.readLine();
    }

    String ask(String command) throws Exception {
      new PrintWriter(socket.getOutputStream(), true).println("{ " + command + "; } >&3");
      return in.readLine();
    }

    @Override
    public void close() throws Exception {
      server.close();
    }
  }

  /** The next process has been started and the node knows it. */
  private String next(Master m, Versions v, Container c) throws Exception {
    String told = v.next();
    until(c.getId() + " runs", () -> status(m, c).getContainerSubState() == ContainerSubState.RUNNING);
    return told;
  }

  private static LocalResource resource(java.io.File f) {
    return LocalResource.newInstance(URL.fromURI(f.toURI()), LocalResourceType.FILE, LocalResourceVisibility.APPLICATION, f.length(),
        f.lastModified());
  }

  private void reinit(Master m) throws Exception {
    Container c = m.get(24, SMALL, 0).get(0);
    java.io.File file = new java.io.File(System.getenv("HOME"), "late-resource");
    java.nio.file.Files.write(file.toPath(), "late\n".getBytes("UTF-8"));
    try (Versions v = new Versions()) {
      say("re-init: the first", () -> {
        m.act(() -> m.node.startContainer(c, v.context("first")));
        return next(m, v, c);
      });
      say("re-init: nothing to roll back to", () -> {
        m.act(() -> m.node.rollbackLastReInitialization(c.getId()));
        return "done";
      });
      say("re-init: nothing to commit", () -> {
        m.act(() -> m.node.commitLastReInitialization(c.getId()));
        return "done";
      });
      say("re-init: the second", () -> {
        m.act(() -> m.node.reInitializeContainer(c.getId(), v.context("second"), false));
        return next(m, v, c);
      });
      say("re-init: rolled back", () -> {
        m.act(() -> m.node.rollbackLastReInitialization(c.getId()));
        return next(m, v, c);
      });
      say("re-init: nothing to roll back to again", () -> {
        m.act(() -> m.node.rollbackLastReInitialization(c.getId()));
        return "done";
      });
      say("re-init: one that fails is rolled back", () -> {
        m.act(() -> m.node.reInitializeContainer(c.getId(), shell(1, "exit 9"), false));
        return next(m, v, c);
      });
      say("re-init: the third, to be committed", () -> {
        m.act(() -> m.node.reInitializeContainer(c.getId(), v.context("third"), false));
        return next(m, v, c);
      });
      say("re-init: committed", () -> {
        m.act(() -> m.node.commitLastReInitialization(c.getId()));
        m.act(() -> m.node.rollbackLastReInitialization(c.getId()));
        return "done";
      });
      say("re-init: restarted", () -> {
        m.act(() -> m.node.restartContainer(c.getId()));
        return next(m, v, c);
      });
      say("re-init: committed by itself", () -> {
        m.act(() -> m.node.reInitializeContainer(c.getId(), v.context("fourth"), true));
        String told = next(m, v, c);
        m.act(() -> m.node.rollbackLastReInitialization(c.getId()));
        return told;
      });
      say("localize", () -> {
        m.act(() -> m.node.localize(c.getId(), c.getNodeId(), Collections.singletonMap("late", resource(file))));
        List<LocalizationStatus> found = new ArrayList<>();
        until("late is localized", () -> {
          found.clear();
          m.act(() -> found.addAll(m.node.getLocalizationStatuses(c.getId(), c.getNodeId())));
          return found.stream().allMatch(s -> s.getLocalizationState() == LocalizationState.COMPLETED);
        });
        until("its link", () -> "late".equals(v.ask("cat late 2>/dev/null || echo no")));
        return found.size() + " " + found.get(0).getResourceKey() + " " + found.get(0).getLocalizationState();
      });
      say("localize: a file that is not there", () -> {
        LocalResource gone = resource(file);
        gone.setTimestamp(1);
        m.act(() -> m.node.localize(c.getId(), c.getNodeId(), Collections.singletonMap("gone", gone)));
        List<LocalizationStatus> found = new ArrayList<>();
        until("gone is refused", () -> {
          found.clear();
          m.act(() -> found.addAll(m.node.getLocalizationStatuses(c.getId(), c.getNodeId())));
          return found.stream().noneMatch(s -> s.getLocalizationState() == LocalizationState.PENDING);
        });
        TreeSet<String> states = new TreeSet<>();
        found.forEach(s -> states.add(s.getResourceKey() + " " + s.getLocalizationState()));
        return states + " " + m.onNode(c);
      });
      say("re-init: of one that has ended", () -> {
        m.act(() -> m.node.stopContainer(c.getId(), c.getNodeId()));
        m.end(c.getId());
        m.act(() -> m.node.restartContainer(c.getId()));
        return "done";
      });
    }
  }

  private ContainerStatus status(Master m, Container c) throws Exception {
    ContainerStatus[] found = new ContainerStatus[1];
    m.act(() -> found[0] = m.node.getContainerStatus(c.getId(), c.getNodeId()));
    return found[0];
  }

  /** A place on the list gets nothing while another application does; off the list it does again. */
  private void blacklist(Master m, Master other) throws Exception {
    String host = m.get(30, SMALL, 0).get(0).getNodeId().getHost();
    for (String place : new String[] {host, "/default-rack", "elsewhere.example"}) {
      say("blacklist of " + (place.equals(host) ? "the host" : place), () -> {
        m.am.updateBlacklist(Collections.singletonList(place), null);
        m.beat();
        ContainerRequest q = m.ask(31, 0, SMALL);
        m.beat();
        for (int i = 0; i < 3; i++) {
          other.get(1, SMALL, 0);
        }
        m.beat();
        int listed = m.granted.size();
        m.am.updateBlacklist(null, Collections.singletonList(place));
        m.collect(1);
        m.am.removeContainerRequest(q);
        return fields("listed", listed, "then", 1);
      });
    }
    say("blacklist of everything", () -> {
      m.am.updateBlacklist(Collections.singletonList("*"), null);
      return m.beat();
    });
    m.am.updateBlacklist(null, Collections.singletonList("*"));
    say("after it", () -> m.get(32, SMALL, 0).size());
  }

  // ---- Updates of containers ----

  private static Object text(AllocateResponse r) {
    List<Object> updated = new ArrayList<>();
    for (UpdatedContainer u : r.getUpdatedContainers()) {
      updated.add(u.getUpdateType() + " to " + u.getContainer().getResource() + " " + u.getContainer().getExecutionType() + " version "
          + u.getContainer().getVersion());
    }
    List<Object> errors = new ArrayList<>();
    for (UpdateContainerError e : r.getUpdateErrors()) {
      errors.add(e.getReason() + " at version " + e.getCurrentContainerVersion());
    }
    return fields("updated", updated, "errors", errors);
  }

  /** A task ends when its socket is collected. */
  private final List<Task> kept = new ArrayList<>();

  /** The ResourceManager leaves updates of containers without an answer that it does not know as running. */
  private Container running(Master m, Container c) throws Exception {
    Task t = new Task(c);
    m.act(() -> t.start(m.node));
    kept.add(t);
    until(c.getId() + " runs at the ResourceManager", () -> {
      m.beat();
      return yarn.getContainerReport(c.getId()).getContainerState() == ContainerState.RUNNING;
    });
    return c;
  }

  private Object update(Master m, Container c, ContainerUpdateType type, Resource size, ExecutionType execution)
      throws Exception {
    m.am.requestContainerUpdate(c, UpdateContainerRequest.newInstance(c.getVersion(), c.getId(), type, size, execution));
    until("an answer to the update of " + c.getId(), () -> {
      m.beat();
      return !m.last.getUpdateErrors().isEmpty() || !m.last.getUpdatedContainers().isEmpty();
    });
    return text(m.last);
  }

  /** The sizes at its node and in the ResourceManager's report, once the node has the expected one. */
  private Object sized(Master m, Container c, Resource size) throws Exception {
    until(c.getId() + " has " + size + " on its node", () -> {
      m.beat();
      return size.equals(status(m, c).getCapability());
    });
    return status(m, c).getCapability() + " and " + yarn.getContainerReport(c.getId()).getAllocatedResource();
  }

  /** A container for each: the client sends one change of a container. */
  private void updates(Master m) throws Exception {
    Resource large = Resource.newInstance(256, 1);
    Container grows = running(m, m.get(40, SMALL, 0).get(0));
    say("update: larger", () -> update(m, grows, ContainerUpdateType.INCREASE_RESOURCE, large, null));
    say("update: larger, on its node by its master", () -> {
      Container c = m.last.getUpdatedContainers().get(0).getContainer();
      m.act(() -> m.node.updateContainerResource(c));
      return sized(m, c, large);
    });
    Container shrinks = running(m, m.get(41, large, 0).get(0));
    say("update: smaller", () -> update(m, shrinks, ContainerUpdateType.DECREASE_RESOURCE, SMALL, null));
    say("update: smaller, on its node by itself", () -> sized(m, shrinks, SMALL));
    say("update: with the version before", () -> update(m, shrinks, ContainerUpdateType.INCREASE_RESOURCE, large, null));
    say("update: promote a guaranteed one", () -> update(m, running(m, m.get(42, SMALL, 0).get(0)), ContainerUpdateType.PROMOTE_EXECUTION_TYPE, null,
        ExecutionType.GUARANTEED));
    say("update: larger than any node", () -> update(m, running(m, m.get(43, SMALL, 0).get(0)), ContainerUpdateType.INCREASE_RESOURCE,
        Resource.newInstance(1 << 20, 1), null));
    say("update: of a released container", () -> {
      Container c = m.get(44, SMALL, 0).get(0);
      m.am.releaseAssignedContainer(c.getId());
      m.end(c.getId());
      return update(m, c, ContainerUpdateType.INCREASE_RESOURCE, large, null);
    });
  }

  // ---- The second attempt ----

  /** Two run, one ends while no master is there, one was never started. */
  private void attempts() throws Exception {
    Master m = new Master("kept", true);
    m.register();
    Task one = m.task(1);
    Task two = m.task(2);
    Task over = m.task(3);
    Container idle = m.get(4, SMALL, 0).get(0);
    Map<ContainerId, String> names = new HashMap<>();
    names.put(one.container.getId(), "one");
    names.put(two.container.getId(), "two");
    names.put(over.container.getId(), "over");
    names.put(idle.getId(), "idle");
    until("all run at the ResourceManager", () -> {
      m.beat();
      long running = yarn.getContainers(yarn.getApplicationAttempts(m.id).get(0).getApplicationAttemptId()).stream()
          .filter(c -> c.getContainerState() == ContainerState.RUNNING).count();
      return running >= 4; // with the master's own
    });
    m.fail();
    until("a second attempt", () -> yarn.getApplicationAttempts(m.id).size() == 2);
    over.exit(3);
    m.register();
    m.ended.clear();
    say("second attempt: what it is told at its registration", () -> {
      Map<String, Object> kept = new TreeMap<>();
      m.registered.getContainersFromPreviousAttempts().forEach(c -> kept.put(names.get(c.getId()), text(c)));
      kept.remove("over"); // the race of its end with the registration is the test's
      return kept;
    });
    say("second attempt: tokens for their nodes", () -> m.registered.getNMTokensFromPreviousAttempts().size());
    say("second attempt: a container that ended meanwhile", () -> m.end(over.container.getId()).getExitStatus());
    say("second attempt: one that was never started", () -> text(m.end(idle.getId())));
    say("second attempt: they run", () -> m.onNode(one.container) + " " + m.onNode(two.container));
    say("second attempt: release", () -> {
      m.am.releaseAssignedContainer(one.container.getId());
      return text(m.end(one.container.getId()));
    });
    say("second attempt: stop", () -> {
      m.act(() -> m.node.stopContainer(two.container.getId(), two.container.getNodeId()));
      return text(m.end(two.container.getId()));
    });
    say("second attempt: a container of its own", () -> {
      Container c = m.get(5, SMALL, 0).get(0);
      return c.getId().getApplicationAttemptId().getAttemptId() + " " + c.getResource();
    });
    say("second attempt: release of an unknown container", () -> {
      m.am.releaseAssignedContainer(ContainerId.newContainerId(one.container.getId().getApplicationAttemptId(), 4000));
      return m.beat().getCompletedContainersStatuses().size();
    });
    m.finish();
  }

  /** Requests that are refused: the client sends them again with each call, so each has an application of its own. */
  private void refused(Master other) throws Exception {
    Container foreign = other.get(50, SMALL, 0).get(0);
    Master m = new Master("release", false);
    m.register();
    say("refused: release of another application's container", () -> {
      m.am.releaseAssignedContainer(foreign.getId());
      return m.beat();
    });
    say("refused: then an end", () -> {
      m.finish();
      return "done";
    });
    Master large = new Master("large", false);
    large.register();
    say("refused: a request larger than any node", () -> {
      large.ask(1, 0, Resource.newInstance(1 << 20, 1));
      return large.beat();
    });
    large.kill();
    Master label = new Master("label", false);
    label.register();
    say("refused: a request with a label", () -> {
      label.am.addContainerRequest(ContainerRequest.newBuilder().capability(SMALL).priority(Priority.newInstance(1))
          .nodeLabelsExpression("gpu").build());
      return label.beat();
    });
    label.kill();
  }

  private void all() throws Exception {
    yarn.init(conf);
    yarn.start();
    Master m = new Master("probe", false);
    m.register();
    Master other = new Master("other", false);
    other.register();
    asks(m);
    releases(m);
    nodeManager(m);
    reinit(m);
    blacklist(m, other);
    updates(m);
    refused(other);
    m.finish();
    other.finish();
    attempts();
    yarn.stop();
    System.out.println("end");
  }

  public static void main(String[] args) throws Exception {
    new MasterProbe().all();
    System.exit(0); // threads of the clients
  }
}
