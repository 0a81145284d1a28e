export * from '@portcullis/ratelimit/remote'
