import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.util.ArrayDeque;
import java.util.Deque;

/** Fills protobuf messages with values, by their descriptors. */
final class Fill {
  /**
   * FULL: every field at every level, lists of two or one, distinct values. EMPTY: every field of the
   * message, with zeros, empty strings, empty lists and messages of their required fields. MINIMAL:
   * required fields.
   */
  enum Shape { FULL, EMPTY, MINIMAL }

  private static final int DEPTH = 9;
  private static final int LONG_LISTS = 2; // levels at which a list has two entries

  private final Shape shape;
  private final Deque<Descriptor> path = new ArrayDeque<>();
  private int serial;

  private Fill(Shape shape, int seed) {
    this.shape = shape;
    this.serial = seed;
  }

  static Message message(Message prototype, Shape shape, int seed) {
    return new Fill(shape, seed).build(prototype.newBuilderForType()).build();
  }

  private Message.Builder build(Message.Builder b) {
    path.push(b.getDescriptorForType());
    for (FieldDescriptor f : b.getDescriptorForType().getFields()) {
      if (f.isRequired() || wanted(f)) {
        if (f.isRepeated()) {
          for (int n = path.size() <= LONG_LISTS ? 2 : 1; n > 0; n--) {
            b.addRepeatedField(f, value(b, f));
          }
        } else {
          b.setField(f, value(b, f));
        }
      }
    }
    path.pop();
    return b;
  }

  private boolean wanted(FieldDescriptor f) {
    if (shape == Shape.MINIMAL || shape == Shape.EMPTY && (f.isRepeated() || path.size() > 1)) {
      return false;
    }
    return f.getJavaType() != FieldDescriptor.JavaType.MESSAGE
        || path.size() < DEPTH && !path.contains(f.getMessageType());
  }

  private Object value(Message.Builder b, FieldDescriptor f) {
    if (f.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
      return build(b.newBuilderForField(f)).build();
    }
    return shape == Shape.FULL ? distinct(f) : zero(f);
  }

  private Object distinct(FieldDescriptor f) {
    int n = ++serial;
    switch (f.getJavaType()) {
      case INT: return n % 3 == 0 ? -n : n * 1000003;
      case LONG: return n % 3 == 0 ? -n : n * 1000000000000037L;
      case FLOAT: return n + 0.5f;
      case DOUBLE: return n + 0.125;
      case BOOLEAN: return true;
      case STRING: return text(f, n);
      case BYTE_STRING: return ByteString.copyFrom(new byte[] {(byte) n, 0, (byte) 0xff, (byte) (n >> 8)});
      case ENUM: return f.getEnumType().getValues().get(n % f.getEnumType().getValues().size());
      default: throw new IllegalStateException(f.getFullName());
    }
  }

  /** Resource records accept configured resource types only. */
  private String text(FieldDescriptor f, int n) {
    if (f.getContainingType().getName().equals("ResourceInformationProto")) {
      return f.getName().equals("key") ? n % 2 == 0 ? "memory-mb" : "vcores" : "";
    }
    return f.getName() + "-" + n + (n % 4 == 0 ? " \u00e4\u20ac\ud83d\ude00" : "");
  }

  private static Object zero(FieldDescriptor f) {
    switch (f.getJavaType()) {
      case INT: return 0;
      case LONG: return 0L;
      case FLOAT: return 0f;
      case DOUBLE: return 0.0;
      case BOOLEAN: return false;
      case STRING: return "";
      case BYTE_STRING: return ByteString.EMPTY;
      case ENUM: return f.getEnumType().getValues().get(0);
      default: throw new IllegalStateException(f.getFullName());
    }
  }
}
