import { type DescFile, fromJsonString, toBinary, toJsonString } from '@bufbuild/protobuf'
import { nestedTypes } from '@bufbuild/protobuf/reflect'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { file_envoy_service_ratelimit_v3_rls } from './generated/envoy/service/ratelimit/v3/rls_pb.ts'
import { file_grpc_health_v1_health } from './generated/grpc/health/v1/health_pb.ts'
import { file_grpc_reflection_v1_reflection } from './generated/grpc/reflection/v1/reflection_pb.ts'

/** A `.proto` file in the form that gRPC reflection returns. */
export interface FileDescriptor {
  /** For example `envoy/service/ratelimit/v3/rls.proto`. */
  readonly name: string
  /** The names of the files that it imports; they are in the list too. */
  readonly dependencies: readonly string[]
  /** The full names of its messages, fields, enums, services and methods. */
  readonly symbols: readonly string[]
  /** The serialized `google.protobuf.FileDescriptorProto`. */
  readonly encoded: Uint8Array
}

/** The files that define the services of this server, and all their imports; imports come first. */
export function toFileDescriptors(): readonly FileDescriptor[] {
  const files = new Map<string, FileDescriptor>()
  const services = [
    file_envoy_service_ratelimit_v3_rls,
    file_grpc_health_v1_health,
    file_grpc_reflection_v1_reflection,
  ]
  for (const file of services) addFile(files, file)
  const older = toReflectionV1Alpha(file_grpc_reflection_v1_reflection)
  files.set(older.name, older)
  return [...files.values()]
}

function addFile(files: Map<string, FileDescriptor>, file: DescFile): void {
  for (const dependency of file.dependencies) addFile(files, dependency)
  files.set(file.proto.name, {
    name: file.proto.name,
    dependencies: file.proto.dependency,
    symbols: toSymbols(file),
    encoded: toBinary(FileDescriptorProtoSchema, file.proto),
  })
}

/** The older reflection service has the same messages and methods in another package. */
function toReflectionV1Alpha(file: DescFile): FileDescriptor {
  const toOlder = (text: string) =>
    text.replaceAll(/grpc([./])reflection\1v1\b/g, 'grpc$1reflection$1v1alpha')
  const json = toJsonString(FileDescriptorProtoSchema, file.proto)
  const proto = fromJsonString(FileDescriptorProtoSchema, toOlder(json))
  return {
    name: proto.name,
    dependencies: proto.dependency,
    symbols: toSymbols(file).map(toOlder),
    encoded: toBinary(FileDescriptorProtoSchema, proto),
  }
}

function toSymbols(file: DescFile): string[] {
  return [...nestedTypes(file)].flatMap((type) => {
    const members =
      type.kind === 'message' ? type.fields : type.kind === 'service' ? type.methods : []
    return [type.typeName, ...members.map((member) => `${type.typeName}.${member.name}`)]
  })
}
