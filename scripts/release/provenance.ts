/** The environment variables with which GitHub Actions describes a run. */
export interface RunEnvironment {
  readonly GITHUB_SERVER_URL: string
  readonly GITHUB_REPOSITORY: string
  readonly GITHUB_REF: string
  readonly GITHUB_SHA: string
  readonly GITHUB_RUN_ID: string
  readonly GITHUB_RUN_ATTEMPT: string
  readonly GITHUB_WORKFLOW_REF: string
}

const names: readonly (keyof RunEnvironment)[] = [
  'GITHUB_SERVER_URL',
  'GITHUB_REPOSITORY',
  'GITHUB_REF',
  'GITHUB_SHA',
  'GITHUB_RUN_ID',
  'GITHUB_RUN_ATTEMPT',
  'GITHUB_WORKFLOW_REF',
]

/** @throws {Error} if a variable is missing, as outside GitHub Actions. */
export function readRunEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): RunEnvironment {
  const missing = names.filter((name) => !env[name])
  if (missing.length > 0) {
    throw new Error(
      `${missing.join(', ')} is not set. Only the release workflow can write the provenance; push a tag to start it.`,
    )
  }
  return Object.fromEntries(names.map((name) => [name, env[name]])) as unknown as RunEnvironment
}

/** The predicate of a SLSA provenance statement, version 1: which workflow built it, from which commit. */
export function toProvenance(run: RunEnvironment): object {
  const repository = `${run.GITHUB_SERVER_URL}/${run.GITHUB_REPOSITORY}`
  const [, path = ''] = /^[^/]+\/[^/]+\/([^@]+)@/.exec(run.GITHUB_WORKFLOW_REF) ?? []
  return {
    buildDefinition: {
      buildType: 'https://actions.github.io/buildtypes/workflow/v1',
      externalParameters: { workflow: { ref: run.GITHUB_REF, repository, path } },
      resolvedDependencies: [
        {
          uri: `git+${repository}@${run.GITHUB_REF}`,
          digest: { gitCommit: run.GITHUB_SHA },
        },
      ],
    },
    runDetails: {
      builder: { id: `${run.GITHUB_SERVER_URL}/${run.GITHUB_WORKFLOW_REF}` },
      metadata: {
        invocationId: `${repository}/actions/runs/${run.GITHUB_RUN_ID}/attempts/${run.GITHUB_RUN_ATTEMPT}`,
      },
    },
  }
}
