import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.security.token.delegation.DelegationTokenIdentifier;
import org.apache.hadoop.security.token.delegation.AbstractDelegationTokenSecretManager;

/**
 * Delegation tokens of a Router of HDFS, in its memory: Hadoop's own managers for it want ZooKeeper or a database. Named by
 * dfs.federation.router.secret.manager.class (tests/interop/secure_hdfs.py); tokens live for a day.
 */
public final class MemorySecretManager extends AbstractDelegationTokenSecretManager<DelegationTokenIdentifier> {
  private static final long DAY = 24 * 3600 * 1000L;

  /** The Router calls it, and wants a manager that runs. */
  public MemorySecretManager(Configuration conf) throws Exception {
    super(DAY, 7 * DAY, DAY, DAY);
    startThreads();
  }

  @Override
  public DelegationTokenIdentifier createIdentifier() {
    return new DelegationTokenIdentifier();
  }
}
