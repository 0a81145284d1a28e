import { openFileSource } from './file.ts'

/** By the kind of source in the configuration. */
export const ruleSources = {
  file: openFileSource,
}
