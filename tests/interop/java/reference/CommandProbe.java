import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptReport;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.ContainerReport;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.YarnApplicationAttemptState;
import org.apache.hadoop.yarn.client.ClientRMProxy;
import org.apache.hadoop.yarn.client.api.AMRMClient;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.client.api.NMClient;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.client.api.YarnClientApplication;
import org.apache.hadoop.yarn.client.cli.YarnCLI;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * Runs Hadoop's own command classes in one JVM beside two running applications, for tests/interop/cases/commands.py.
 *
 * Reads lines on standard input and answers on standard output, each answer behind "probe:":
 *   run NAME CLASS ARG…   →  ran NAME EXIT BASE64      words separated by tabs; what the command printed
 *   end                   →  ended
 * Begins with "set NAME VALUE" lines: the ids that commands and URLs need.
 */
public final class CommandProbe {
  private static final PrintStream SAID = System.out;
  private static final String MARK = "probe:";
  private final Configuration conf = new YarnConfiguration();
  private final YarnClient yarn = YarnClient.createYarnClient();

  private CommandProbe() {
  }

  private static void say(String... words) {
    synchronized (SAID) {
      SAID.println("\n" + MARK + String.join("\t", words)); // behind what a command's thread may still print
      SAID.flush();
    }
  }

  // ---- The applications ----

  private static ContainerLaunchContext command(String text) {
    return ContainerLaunchContext.newInstance(new HashMap<>(), new HashMap<>(), Collections.singletonList(text),
        new HashMap<>(), (ByteBuffer) null, new HashMap<>());
  }

  private static final String WORK = "echo to stdout; echo to stderr >&2; printf 0123456789 >'<LOG_DIR>/digits'; trap '' QUIT; "
      + "exec sleep 600";

  private static String logged() {
    return "{ " + WORK + "; } >'<LOG_DIR>/stdout' 2>'<LOG_DIR>/stderr'";
  }

  private ApplicationSubmissionContext context(YarnClientApplication app, String name) {
    ApplicationSubmissionContext c = app.getApplicationSubmissionContext();
    c.setApplicationName(name);
    c.setApplicationType("PROBE");
    c.setApplicationTags(new HashSet<>(Arrays.asList("one")));
    c.setQueue("default");
    c.setPriority(Priority.newInstance(0));
    c.setMaxAppAttempts(1);
    c.setResource(Resource.newInstance(256, 1));
    c.setAMContainerSpec(command(logged()));
    return c;
  }

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

  private ApplicationAttemptId launched(ApplicationId id) throws Exception {
    until(id + " has a launched attempt", () -> {
      List<ApplicationAttemptReport> all = yarn.getApplicationAttempts(id);
      return !all.isEmpty() && all.get(0).getYarnApplicationAttemptState() == YarnApplicationAttemptState.LAUNCHED;
    });
    return yarn.getApplicationAttempts(id).get(0).getApplicationAttemptId();
  }

  private String runningContainer(ApplicationAttemptId attempt) throws Exception {
    String[] found = new String[1];
    until("a container of " + attempt + " runs", () -> {
      for (ContainerReport r : yarn.getContainers(attempt)) {
        if (r.getContainerState() == ContainerState.RUNNING) {
          found[0] = r.getContainerId().toString();
        }
      }
      return found[0] != null;
    });
    return found[0];
  }

  /** An application whose ApplicationMaster is a shell command: a container with logs that the node keeps. */
  private ApplicationId managed() throws Exception {
    ApplicationSubmissionContext c = context(yarn.createApplication(), "managed");
    yarn.submitApplication(c);
    ApplicationAttemptId attempt = launched(c.getApplicationId());
    say("set", "MANAGED", c.getApplicationId().toString());
    say("set", "MANAGED_ATTEMPT", attempt.toString());
    say("set", "MASTER", runningContainer(attempt));
    return c.getApplicationId();
  }

  private void killed() throws Exception {
    ApplicationSubmissionContext c = context(yarn.createApplication(), "killed");
    yarn.submitApplication(c);
    launched(c.getApplicationId()); // later than that its master has a place, before it may have none
    yarn.killApplication(c.getApplicationId(), "by the probe");
    say("set", "KILLED", c.getApplicationId().toString());
  }

  private AMRMClient<ContainerRequest> am;
  private NMClient node;
  private UserGroupInformation master;

  /** An application with this program as its ApplicationMaster: registered, with a web page and a container. */
  private ApplicationId unmanaged(String page) throws Exception {
    ApplicationSubmissionContext c = context(yarn.createApplication(), "unmanaged");
    c.setUnmanagedAM(true);
    yarn.submitApplication(c);
    ApplicationId id = c.getApplicationId();
    ApplicationAttemptId attempt = launched(id);
    Token<?> token = yarn.getAMRMToken(id);
    token.setService(ClientRMProxy.getAMRMTokenService(conf));
    master = UserGroupInformation.createRemoteUser(attempt.toString());
    master.addToken(token);
    master.doAs((java.security.PrivilegedExceptionAction<Void>) () -> {
      am = AMRMClient.createAMRMClient();
      am.init(conf);
      am.start();
      node = NMClient.createNMClient();
      node.init(conf);
      node.start();
      am.registerApplicationMaster("localhost", 4711, page);
      am.addContainerRequest(new ContainerRequest(Resource.newInstance(128, 1), null, null, Priority.newInstance(1)));
      List<Container> got = new java.util.ArrayList<>();
      until("a container is allocated", () -> {
        got.addAll(am.allocate(0.5f).getAllocatedContainers());
        return !got.isEmpty();
      });
      node.startContainer(got.get(0), command(logged()));
      return null;
    });
    say("set", "RUNNING", id.toString());
    say("set", "ATTEMPT", attempt.toString());
    say("set", "CONTAINER", runningContainer(attempt));
    return id;
  }

  // ---- Commands ----

  /** What a command printed, its exit code in front. System.exit is not called: main methods are not used. */
  private String run(String type, String[] args) throws java.io.IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(bytes, true);
    PrintStream oldErr = System.err;
    java.io.InputStream oldIn = System.in;
    int[] exit = {-99};
    System.setOut(out);
    System.setErr(out);
    System.setIn(new java.io.PipedInputStream(new java.io.PipedOutputStream())); // yarn top reads keys
    Thread t = new Thread(() -> {
      try {
        Tool tool = (Tool) Class.forName(type).getDeclaredConstructor().newInstance();
        if (tool instanceof YarnCLI) { // as its main does
          ((YarnCLI) tool).setSysOutPrintStream(out);
          ((YarnCLI) tool).setSysErrPrintStream(out);
        }
        exit[0] = ToolRunner.run(new YarnConfiguration(), tool, args);
      } catch (Throwable e) {
        exit[0] = 255;
        out.println("throws " + e.getClass().getName() + ": " + String.valueOf(e.getMessage()).split("\n\tat ")[0]);
      }
    });
    try {
      t.start();
      if (type.endsWith(".TopCLI")) {
        until("the screen of top", () -> bytes.toString("UTF-8").contains("APPLICATIONID") || !t.isAlive());
        Thread.sleep(200); // the rest of the screen, which is not compared line by line
        exit[0] = 0;
        stop(t);
      } else {
        t.join(60000);
        if (t.isAlive()) {
          out.println("does not end within 60 s");
        }
      }
    } catch (Exception e) {
      out.println("throws " + e);
    } finally {
      System.setOut(SAID);
      System.setErr(oldErr);
      System.setIn(oldIn);
    }
    return exit[0] + "\t" + Base64.getEncoder().encodeToString(bytes.toByteArray());
  }

  /** yarn top has no end of its own: its thread and those that it started are interrupted. */
  private static void stop(Thread top) {
    top.interrupt();
    for (Thread t : Thread.getAllStackTraces().keySet()) {
      if (t.getClass().getName().contains("TopCLI")) {
        t.interrupt();
      }
    }
  }

  private void serve() throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
      String[] words = line.split("\t");
      say("ran", words[1], run(words[2], Arrays.copyOfRange(words, 3, words.length)));
    }
  }

  /** The ApplicationMaster's page: tells what was asked, and by whom. */
  private static HttpServer page() throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext("/", x -> {
      Map<String, List<String>> h = x.getRequestHeaders();
      byte[] body = (x.getRequestMethod() + " " + x.getRequestURI() + " cookies " + h.getOrDefault("Cookie",
          Collections.emptyList()) + "\n").getBytes(StandardCharsets.UTF_8);
      x.getResponseHeaders().set("Content-Type", "text/plain");
      x.getResponseHeaders().set("X-Of-The-Master", "yes");
      x.sendResponseHeaders(200, body.length);
      x.getResponseBody().write(body);
      x.close();
    });
    server.start();
    return server;
  }

  private void all() throws Exception {
    org.apache.hadoop.yarn.webapp.util.WebServiceClient.initialize(conf); // as the main of yarn logs
    yarn.init(conf);
    yarn.start();
    HttpServer page = page();
    ApplicationId managed = managed();
    ApplicationId unmanaged = unmanaged("http://127.0.0.1:" + page.getAddress().getPort() + "/ui");
    killed();
    say("ready");
    serve();
    master.doAs((java.security.PrivilegedExceptionAction<Void>) () -> {
      am.unregisterApplicationMaster(FinalApplicationStatus.SUCCEEDED, "", null);
      return null;
    });
    yarn.killApplication(managed);
    page.stop(0);
    say("ended", unmanaged.toString());
  }

  public static void main(String[] args) throws Exception {
    new CommandProbe().all();
    System.exit(0); // threads of the commands
  }
}
