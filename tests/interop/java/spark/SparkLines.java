import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/** Executors read a file's lines, and write them in capital letters: SparkLines INPUT OUTPUT. */
public final class SparkLines {
  private static final int PARTITIONS = 3;

  private SparkLines() {
  }

  public static void main(String[] args) throws Exception {
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("lines"))) {
      System.out.println("application " + spark.sc().applicationId());
      System.out.flush();
      spark.textFile(args[0], PARTITIONS).map(String::toUpperCase).saveAsTextFile(args[1]);
    }
  }
}
