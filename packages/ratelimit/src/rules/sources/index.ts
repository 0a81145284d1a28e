/** By the kind of source in the configuration. Loaded when used: xDS brings the protobuf library. */
export const ruleSources = {
  file: async () => (await import('./file/file-source.ts')).openFileSource,
  xds: async () => (await import('./xds/xds-source.ts')).openXdsSource,
}
