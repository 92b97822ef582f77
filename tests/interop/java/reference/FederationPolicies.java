import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.EnhancedHeadroom;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.federation.policies.FederationPolicyInitializationContext;
import org.apache.hadoop.yarn.server.federation.policies.FederationPolicyUtils;
import org.apache.hadoop.yarn.server.federation.policies.amrmproxy.LocalityMulticastAMRMProxyPolicy;
import org.apache.hadoop.yarn.server.federation.policies.dao.WeightedPolicyInfo;
import org.apache.hadoop.yarn.server.federation.policies.router.FederationRouterPolicy;
import org.apache.hadoop.yarn.server.federation.policies.router.HashBasedRouterPolicy;
import org.apache.hadoop.yarn.server.federation.policies.router.LocalityRouterPolicy;
import org.apache.hadoop.yarn.server.federation.policies.router.PriorityRouterPolicy;
import org.apache.hadoop.yarn.server.federation.policies.router.UniformRandomRouterPolicy;
import org.apache.hadoop.yarn.server.federation.policies.router.WeightedRandomRouterPolicy;
import org.apache.hadoop.yarn.server.federation.resolver.DefaultSubClusterResolverImpl;
import org.apache.hadoop.yarn.server.federation.store.impl.MemoryFederationStateStore;
import org.apache.hadoop.yarn.server.federation.store.records.SubClusterId;
import org.apache.hadoop.yarn.server.federation.store.records.SubClusterIdInfo;
import org.apache.hadoop.yarn.server.federation.store.records.SubClusterInfo;
import org.apache.hadoop.yarn.server.federation.store.records.SubClusterPolicyConfiguration;
import org.apache.hadoop.yarn.server.federation.store.records.SubClusterRegisterRequest;
import org.apache.hadoop.yarn.server.federation.store.records.SubClusterState;
import org.apache.hadoop.yarn.server.federation.utils.FederationStateStoreFacade;
import org.apache.hadoop.yarn.util.Records;

/**
 * What Hadoop's federation policies do, recorded for tests/unit/federation. In DIRECTORY/tests/golden/federation it reads
 * weights.json (one text a line) and writes
 *
 * <pre>
 *   weights-3.4.2   what WeightedPolicyInfo reads from each: a line "router; amrm; alpha", or "refused"; then what it writes
 *   split-3.4.2     requests, members and the split of LocalityMulticastAMRMProxyPolicy, with its random generators seeded
 *   route-3.4.2     the same for the policies of the Router
 * </pre>
 *
 * Run by hand, DIRECTORY being the source tree:
 *
 * <pre>
 *   java -cp "$(tests/interop/jars 3.4.2)/*" tests/interop/java/reference/FederationPolicies.java DIRECTORY
 * </pre>
 */
public final class FederationPolicies {
  private static final String[] NODES = {"h1", "h2", "h3", "h4", "h5", "h6"};
  private static final String[] RACKS = {"/r1", "/r1", "/r2", "/r2", "/r3", "/r3"};

  private final Configuration conf = new YarnConfiguration();
  private final StringBuilder out = new StringBuilder();
  private final Path machines = Files.createTempFile("machines", "");
  private FederationStateStoreFacade facade;

  private FederationPolicies() throws Exception {
    conf.setInt(YarnConfiguration.FEDERATION_CACHE_TIME_TO_LIVE_SECS, 0);
    conf.set(YarnConfiguration.FEDERATION_MACHINE_LIST, machines.toString());
    facade = FederationStateStoreFacade.getInstance(conf);
  }

  // ---- Weights ----

  private static String listed(Map<SubClusterIdInfo, Float> weights) {
    if (weights == null) {
      return "";
    }
    TreeMap<String, Float> sorted = new TreeMap<>();
    weights.forEach((id, w) -> sorted.put(String.valueOf(id == null ? null : id.toId().getId()), w));
    return sorted.toString();
  }

  private void read(String json) {
    try {
      WeightedPolicyInfo w =
          WeightedPolicyInfo.fromByteBuffer(ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8)));
      out.append(listed(w.getRouterPolicyWeights())).append("; ").append(listed(w.getAMRMPolicyWeights()))
          .append("; ").append(w.getHeadroomAlpha()).append('\n');
    } catch (Exception e) {
      out.append("refused\n");
    }
  }

  private static String text(WeightedPolicyInfo w) throws Exception {
    return StandardCharsets.UTF_8.decode(w.toByteBuffer()).toString();
  }

  private static WeightedPolicyInfo weights(Map<SubClusterIdInfo, Float> router, Map<SubClusterIdInfo, Float> amrm,
      float alpha) {
    WeightedPolicyInfo w = new WeightedPolicyInfo();
    w.setRouterPolicyWeights(router);
    w.setAMRMPolicyWeights(amrm);
    w.setHeadroomAlpha(alpha);
    return w;
  }

  private void writeWeights() throws Exception {
    float[] values = {0f, 1f, 0.1f, 0.3f, 0.33333334f, 12.5f, 1234567f, 9999999f, 1.0E7f, 0.001f, 0.00099f, -1f, 100f,
        1.0E-10f, 16777216f, 123.456f, 5.0E-5f};
    for (int n : new int[] {0, 1, 2, 3, 12, 13, 17, 40}) {
      Map<SubClusterIdInfo, Float> router = new HashMap<>();
      Map<SubClusterIdInfo, Float> amrm = new HashMap<>();
      for (int i = 0; i < n; i++) {
        router.put(new SubClusterIdInfo("SC-" + i), values[i % values.length]);
        amrm.put(new SubClusterIdInfo("cluster" + (n - i) * 7), values[(n - i) % values.length]);
      }
      out.append(text(weights(router, amrm, values[n % values.length] > 1 ? 1f : values[n % 5]))).append('\n');
    }
    Map<SubClusterIdInfo, Float> odd = new HashMap<>();
    odd.put(new SubClusterIdInfo("a \"b\" \\ / é €"), 1f);
    out.append(text(weights(odd, new HashMap<>(), 0.5f))).append('\n');
    out.append(text(weights(null, odd, 0.5f))).append('\n');
  }

  private void recordWeights(Path dir) throws Exception {
    for (String line : Files.readAllLines(dir.resolve("weights.json"))) {
      read(line);
    }
    out.append('\n');
    writeWeights();
    save(dir.resolve("weights-3.4.2"));
  }

  // ---- Scenarios ----

  private final class Scenario {
    final Random random;
    final int seed;
    final int n;
    final List<SubClusterId> ids = new ArrayList<>(); // in the order of Java's maps
    final Map<SubClusterId, Float> weight = new HashMap<>();
    final Set<SubClusterId> active = new HashSet<>();
    final Set<SubClusterId> barred = new HashSet<>(); // timed out, or of no use to a submission

    Scenario(int seed) throws Exception {
      this.seed = seed;
      random = new Random(seed);
      n = 1 + random.nextInt(5);
      Map<SubClusterId, Boolean> order = new HashMap<>();
      for (int i = 1; i <= n; i++) {
        order.put(SubClusterId.newInstance("SC-" + i), true);
      }
      ids.addAll(order.keySet());
      MemoryFederationStateStore store = new MemoryFederationStateStore();
      store.init(conf);
      StringBuilder list = new StringBuilder();
      for (SubClusterId id : ids) {
        boolean isActive = random.nextInt(5) > 0;
        weight.put(id, random.nextInt(6) == 0 ? 0f : random.nextInt(2) == 0 ? 1f : random.nextInt(1000) / 1000f);
        if (isActive) {
          active.add(id);
        }
        if (random.nextInt(5) == 0) {
          barred.add(id);
        }
        store.registerSubCluster(SubClusterRegisterRequest.newInstance(SubClusterInfo.newInstance(id, "h:1", "h:2", "h:3",
            "h:4", isActive ? SubClusterState.SC_RUNNING : SubClusterState.SC_LOST, 1, "{}")));
      }
      for (int i = 0; i < NODES.length; i++) {
        // A node may be of a sub-cluster that is no member.
        String line = NODES[i] + ", SC-" + (1 + random.nextInt(n + (random.nextInt(4) == 0 ? 1 : 0))) + ", " + RACKS[i];
        list.append(line).append('\n');
      }
      Files.write(machines, list.toString().getBytes(StandardCharsets.UTF_8));
      facade.reinitialize(store, conf);
      out.append("scenario ").append(seed).append('\n');
      for (String line : list.toString().split("\n")) {
        out.append("machine ").append(line).append('\n');
      }
    }

    ByteBuffer params(float alpha) throws Exception {
      Map<SubClusterIdInfo, Float> w = new HashMap<>();
      weight.forEach((id, v) -> w.put(new SubClusterIdInfo(id), v));
      WeightedPolicyInfo info = weights(w, w, alpha);
      out.append("params ").append(text(info)).append('\n');
      return info.toByteBuffer();
    }

    FederationPolicyInitializationContext context(Class<?> policy, float alpha) throws Exception {
      DefaultSubClusterResolverImpl resolver = new DefaultSubClusterResolverImpl();
      resolver.setConf(conf);
      resolver.load();
      return new FederationPolicyInitializationContext(
          SubClusterPolicyConfiguration.newInstance("q", policy.getCanonicalName(), params(alpha)), resolver, facade,
          ids.get(0));
    }

    ResourceRequest row(String name, int count, long id) {
      ResourceRequest r = ResourceRequest.newInstance(Priority.newInstance(1), name, Resource.newInstance(64, 1), count);
      r.setAllocationRequestId(id);
      return r;
    }

    String place(int kind) {
      switch (kind) {
        case 0: return random.nextInt(2) == 0 ? NODES[random.nextInt(NODES.length)] : NODES[random.nextInt(3)].toUpperCase();
        case 1: return RACKS[random.nextInt(RACKS.length)];
        case 2: return random.nextInt(2) == 0 ? "elsewhere" : "/nowhere";
        default: return "*";
      }
    }
  }

  private static void seedField(Class<?> c, Object of, String name, long seed) throws Exception {
    Field f = c.getDeclaredField(name);
    f.setAccessible(true);
    ((Random) f.get(of)).setSeed(seed);
  }

  private void save(Path file) throws Exception {
    Files.write(file, out.toString().getBytes(StandardCharsets.UTF_8));
    out.setLength(0);
  }

  // ---- Split ----

  private void tellHeadroom(Scenario s, LocalityMulticastAMRMProxyPolicy policy, SubClusterId id, boolean load)
      throws Exception {
    if (s.random.nextInt(3) == 0) {
      out.append(" - - -\n");
      return;
    }
    int memory = s.random.nextInt(4) == 0 ? 0 : s.random.nextInt(100000);
    AllocateResponse a = Records.newRecord(AllocateResponse.class);
    a.setAvailableResources(Resource.newInstance(memory, 1));
    out.append(' ').append(memory);
    if (load && s.random.nextInt(4) > 0) {
      int pending = s.random.nextInt(200);
      int cores = s.random.nextInt(50);
      a.setEnhancedHeadroom(EnhancedHeadroom.newInstance(pending, cores));
      out.append(' ').append(pending).append(' ').append(cores).append('\n');
    } else {
      out.append(" - -\n");
    }
    policy.notifyOfResponse(id, a);
  }

  private List<ResourceRequest> rows(Scenario s) {
    List<ResourceRequest> rows = new ArrayList<>();
    int n = 1 + s.random.nextInt(9);
    boolean located = s.random.nextInt(3) > 0;
    for (int i = 0; i < n; i++) {
      int kind = located ? new int[] {0, 0, 0, 1, 1, 2, 3, 3}[s.random.nextInt(8)] : 3;
      int count = s.random.nextInt(5) == 0 ? 0 : 1 + s.random.nextInt(s.random.nextInt(4) == 0 ? 5000 : 20);
      rows.add(s.row(s.place(kind), count, s.random.nextInt(3)));
    }
    for (ResourceRequest r : rows) {
      out.append("ask ").append(r.getAllocationRequestId()).append(' ').append(r.getResourceName()).append(' ')
          .append(r.getNumContainers()).append('\n');
    }
    return rows;
  }

  private void split(int seed) throws Exception {
    boolean load = seed % 4 == 3;
    conf.setBoolean(YarnConfiguration.LOAD_BASED_SC_SELECTOR_ENABLED, load);
    conf.setInt(YarnConfiguration.LOAD_BASED_SC_SELECTOR_THRESHOLD, 100);
    conf.setBoolean(YarnConfiguration.LOAD_BASED_SC_SELECTOR_USE_ACTIVE_CORE, seed % 8 == 7);
    conf.setLong(YarnConfiguration.LOAD_BASED_SC_SELECTOR_MULTIPLIER, 10);
    conf.setBoolean(YarnConfiguration.LOAD_BASED_SC_SELECTOR_FAIL_ON_ERROR, seed % 5 > 0);
    conf.set(YarnConfiguration.FEDERATION_BLACKLIST_SUBCLUSTERS, seed % 11 == 0 ? "SC-1" : "");
    Scenario s = new Scenario(seed);
    out.append("load ").append(load ? seed % 8 == 7 ? "cores" : "pending" : "-").append('\n');
    out.append("fail ").append(seed % 5 > 0).append('\n');
    out.append("excluded ").append(seed % 11 == 0 ? "SC-1" : "-").append('\n');
    LocalityMulticastAMRMProxyPolicy policy = new LocalityMulticastAMRMProxyPolicy();
    float alpha = new float[] {0f, 1f, 0.5f, 0.25f}[s.random.nextInt(4)];
    FederationPolicyInitializationContext context = s.context(policy.getClass(), alpha);
    try {
      policy.reinitialize(context);
    } catch (Exception e) {
      out.append("refused\n");
      return;
    }
    for (SubClusterId id : s.ids) {
      out.append("member ").append(id).append(' ').append(s.active.contains(id)).append(' ')
          .append(s.barred.contains(id));
      tellHeadroom(s, policy, id, load);
    }
    List<ResourceRequest> rows = rows(s);
    seedField(LocalityMulticastAMRMProxyPolicy.class, null, "rand", seed);
    FederationPolicyUtils.setRand(seed);
    try {
      Map<SubClusterId, List<ResourceRequest>> answer = policy.splitResourceRequests(rows, s.barred);
      answer.forEach((id, list) -> list.forEach(r -> out.append("answer ").append(id).append(' ')
          .append(r.getAllocationRequestId()).append(' ').append(r.getResourceName()).append(' ')
          .append(r.getNumContainers()).append('\n')));
    } catch (Exception e) {
      out.append("error\n");
    }
  }

  // ---- Route ----

  private void route(int seed) throws Exception {
    FederationRouterPolicy[] kinds = {new HashBasedRouterPolicy(), new PriorityRouterPolicy(),
        new WeightedRandomRouterPolicy(), new LocalityRouterPolicy(), new UniformRandomRouterPolicy()};
    String[] managers = {"HashBroadcast", "PriorityBroadcast", "WeightedHome", "WeightedLocality", "UniformBroadcast"};
    int kind = seed % kinds.length;
    FederationRouterPolicy policy = kinds[kind];
    Scenario s = new Scenario(seed);
    if (kind == 1) { // no two of one weight: which of them is first is chance
      float w = 0;
      for (SubClusterId id : s.ids) {
        s.weight.put(id, w++);
      }
    }
    String queue = new String[] {"default", "root.a", "größe", "x"}[s.random.nextInt(4)];
    out.append("manager ").append(managers[kind]).append('\n').append("queue ").append(queue).append('\n');
    policy.reinitialize(s.context(policy.getClass(), 0));
    Set<SubClusterId> order = new LinkedHashSet<>(facade.getSubClusters(true).keySet()); // a map of another size
    order.addAll(s.ids);
    for (SubClusterId id : order) {
      out.append("member ").append(id).append(' ').append(s.active.contains(id)).append(' ')
          .append(s.barred.contains(id)).append('\n');
    }
    ApplicationSubmissionContext app = Records.newRecord(ApplicationSubmissionContext.class);
    app.setQueue(queue);
    List<ResourceRequest> rows = new ArrayList<>();
    int shape = s.random.nextInt(4);
    for (int i = 0; i < (shape == 0 ? 0 : shape == 1 ? 1 : shape == 2 ? 3 : s.random.nextInt(5)); i++) {
      int place = shape == 1 ? 3 : shape == 2 ? new int[] {0, 1, 3}[i] : s.random.nextInt(4);
      rows.add(s.row(s.place(place), 1, 0));
      out.append("ask ").append(rows.get(i).getResourceName()).append('\n');
    }
    app.setAMContainerResourceRequests(rows);
    FederationPolicyUtils.setRand(seed);
    if (kind == 4) {
      seedField(UniformRandomRouterPolicy.class, policy, "rand", seed);
    }
    try {
      SubClusterId home = policy.getHomeSubcluster(app, new ArrayList<>(s.barred));
      out.append("answer ").append(home).append('\n');
    } catch (Exception e) {
      out.append("error\n");
    }
  }

  public static void main(String[] args) throws Exception {
    FederationPolicies p = new FederationPolicies();
    Path dir = Paths.get(args[0], "tests", "golden", "federation");
    p.recordWeights(dir);
    for (int seed = 0; seed < 160; seed++) {
      p.split(seed);
    }
    p.save(dir.resolve("split-3.4.2"));
    for (int seed = 0; seed < 100; seed++) {
      p.route(seed);
    }
    p.save(dir.resolve("route-3.4.2"));
    Files.delete(p.machines);
    System.exit(0); // threads of the cache
  }
}
