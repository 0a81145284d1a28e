import { boolean, type Chapter, integer, path } from '@portcullis/service-kit/settings/env'
import type { RuleSourcePlugin, SourceStatistics } from '../source.ts'
import type { FileSourceStatistics } from './file-source.ts'

const chapter = {
  title: 'Rules from files (CONFIG_TYPE=FILE)',
  variables: {
    root: path(
      'RUNTIME_ROOT',
      '/srv/runtime_data/current',
      'Root folder, or a symbolic link to it',
    ),
    subdirectory: path('RUNTIME_SUBDIRECTORY', '', 'Folder below RUNTIME_ROOT'),
    appDirectory: path(
      'RUNTIME_APPDIRECTORY',
      'config',
      'Folder below that, which contains the *.yaml files',
    ),
    ignoresDotFiles: boolean(
      'RUNTIME_IGNOREDOTFILES',
      false,
      'Whether files and folders whose names begin with a dot are ignored',
    ),
    fileLimitBytes: integer(
      'RUNTIME_FILE_LIMIT_BYTES',
      64 << 20,
      'Maximum size of a rule file; with a larger file, the previous rules stay in force',
      { min: 1, max: 1 << 30 },
    ),
    watchesRoot: boolean(
      'RUNTIME_WATCH_ROOT',
      true,
      'Whether rules are reloaded when the root link changes (true) or when a file changes (false)',
    ),
  },
} satisfies Chapter

export interface FileRulesConfig {
  readonly kind: 'file'
  readonly root: string
  readonly subdirectory: string
  readonly appDirectory: string
  readonly ignoresDotFiles: boolean
  readonly fileLimitBytes: number
  readonly watchesRoot: boolean
}

export const file: RuleSourcePlugin<{ files: typeof chapter }, FileRulesConfig> = {
  kind: 'file',
  configType: 'FILE',
  place: 'YAML files',
  chapters: { files: chapter },
  toConfig: (settings) => ({ kind: 'file', ...settings.files }),
  open: async ({ ignoresDotFiles, watchesRoot, ...config }, { statistics, ...parts }) => {
    const { openFileSource } = await import('./file-source.ts')
    return openFileSource({
      ...parts,
      ...config,
      ignoreDotFiles: ignoresDotFiles,
      watchRoot: watchesRoot,
      statistics: toFileStatistics(statistics),
    })
  },
}

function toFileStatistics(statistics: SourceStatistics): FileSourceStatistics {
  const fileCount = { value: 0 }
  statistics.gauge('runtime.num_values', () => fileCount.value)
  return {
    loadAttempts: statistics.counter('runtime.load_attempts'),
    loadFailures: statistics.counter('runtime.load_failures'),
    fileCount,
  }
}
