import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.registry.client.api.BindFlags;
import org.apache.hadoop.registry.client.api.RegistryOperations;
import org.apache.hadoop.registry.client.api.RegistryOperationsFactory;
import org.apache.hadoop.registry.client.binding.RegistryPathUtils;
import org.apache.hadoop.registry.client.binding.RegistryTypeUtils;
import org.apache.hadoop.registry.client.binding.RegistryUtils;
import org.apache.hadoop.registry.client.impl.FSRegistryOperationsService;
import org.apache.hadoop.registry.client.types.Endpoint;
import org.apache.hadoop.registry.client.types.ServiceRecord;
import org.apache.hadoop.service.Service;

/**
 * Hadoop's client of YARN's registry.
 *
 *   RegistryPeer print                   records as its marshaller writes them, and paths
 *   RegistryPeer zookeeper HOST:PORT     commands of standard input against ZooKeeper
 *   RegistryPeer directory               the same on this machine's files
 *
 * Commands, each answered by one line: "put PATH NAME=VALUE…", "get PATH", "bytes PATH" (of
 * "directory": none), "list PATH", "delete PATH", "tree PATH".
 */
public final class RegistryPeer {
  private static final RegistryUtils.ServiceRecordMarshal MARSHAL =
      new RegistryUtils.ServiceRecordMarshal();

  private static void say(String name, ServiceRecord record) throws Exception {
    String json = new String(MARSHAL.toBytes(record), StandardCharsets.UTF_8);
    System.out.write((name + " " + json + "\n").getBytes(StandardCharsets.UTF_8));
  }

  private static ServiceRecord instance() {
    ServiceRecord r = new ServiceRecord();
    r.set("yarn:id", "container_e17_1700000000000_0007_01_000002");
    r.description = "web-0";
    r.set("yarn:persistence", "container");
    r.set("yarn:ip", "10.1.2.3");
    r.set("yarn:hostname", "web-0.example.org");
    r.set("yarn:component", "web");
    return r;
  }

  private static void print() throws Exception {
    ServiceRecord service = new ServiceRecord(), odd = new ServiceRecord(), many = new ServiceRecord();

    service.set("yarn:id", "application_1700000000000_0007");
    service.set("yarn:persistence", "application");
    service.description = "YarnServiceMaster";
    say("service", service);
    service.addExternalEndpoint(RegistryTypeUtils.webEndpoint("http://", new URI("http://n1:40001/")));
    service.addExternalEndpoint(RegistryTypeUtils.restEndpoint("classpath:org.example.rest",
        new URI("http://n1:40001/ws"), new URI("http://n2:40001/ws")));
    service.addInternalEndpoint(RegistryTypeUtils.inetAddrEndpoint("classpath:org.example.rpc",
        "hadoop/IPC", "n1", 40002));
    service.addInternalEndpoint(new Endpoint("none", "uri", "REST"));
    say("endpoints", service);
    say("instance", instance());
    say("empty", new ServiceRecord());
    odd.description = "\" \\ / \b\t\n\f\r \u0001\u001f\u007f \u00e4\u20ac\ud83d\ude00 </script>";
    odd.set("\u00e4\u20ac\ud83d\ude00", "\u2028");
    say("odd", odd);
    for (int i = 0; i < 30; i++)
      many.set("attribute-" + i, Integer.toString(i));
    say("many", many);
    for (String user : new String[] {"alice", "My_User", "hdfs/host@REALM"})
      System.out.println("path " + user + " " + RegistryUtils.componentPath(
          RegistryUtils.registryUser(user), "yarn-service", "sleepers",
          RegistryPathUtils.encodeYarnID("container_e17_1700000000000_0007_01_000002")));
  }

  private static String text(ServiceRecord r) {
    List<String> external = new ArrayList<>(), internal = new ArrayList<>();
    for (Endpoint e : r.external)
      external.add(e.api + "|" + e.addressType + "|" + e.protocolType + "|" + new ArrayList<>(e.addresses));
    for (Endpoint e : r.internal)
      internal.add(e.api + "|" + e.addressType + "|" + e.protocolType + "|" + new ArrayList<>(e.addresses));
    return r.description + " " + new TreeMap<>(r.attributes()) + " " + external + " " + internal;
  }

  private static String answer(RegistryOperations ops, String[] words) throws Exception {
    String path = words[1];
    switch (words[0]) {
      case "put": {
        ServiceRecord r = new ServiceRecord();
        for (int i = 2; i < words.length; i++) {
          String[] pair = words[i].split("=", 2);
          if (pair[0].equals("description"))
            r.description = pair[1];
          else
            r.set(pair[0], pair[1]);
        }
        ops.mknode(RegistryPathUtils.parentOf(path), true);
        ops.bind(path, r, BindFlags.OVERWRITE);
        return "ok";
      }
      case "get":
        return text(ops.resolve(path));
      case "list": {
        List<String> names = new ArrayList<>(ops.list(path));
        names.sort(null);
        return String.join(" ", names);
      }
      case "delete":
      case "tree":
        ops.delete(path, words[0].equals("tree"));
        return "ok";
      default:
        return "unknown " + words[0];
    }
  }

  public static void main(String[] args) throws Exception {
    if (args[0].equals("print")) {
      print();
      return;
    }
    Configuration conf = new Configuration();
    RegistryOperations ops;
    if (args[0].equals("zookeeper")) {
      conf.set("hadoop.registry.zk.quorum", args[1]);
      conf.set("hadoop.registry.zk.retry.times", "20");
      ops = RegistryOperationsFactory.createInstance("peer", conf);
    } else {
      conf.set("fs.defaultFS", "file:///");
      ops = new FSRegistryOperationsService();
      ((Service) ops).init(conf);
    }
    ops.start();
    System.out.println("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null;) {
      String answer;
      try {
        answer = answer(ops, line.split(" "));
      } catch (Exception e) {
        answer = "error " + e.getClass().getSimpleName();
      }
      System.out.println(answer);
    }
    ops.stop();
  }
}
