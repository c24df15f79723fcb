import { z } from 'zod';

export const City = z.enum(['New York', 'Chicago', 'Los Angeles']);
export type City = z.infer<typeof City>;

interface Weather {
  readonly temperature: number;
  readonly conditions: string;
  readonly humidity: number;
}

/** Made up. */
export function weatherIn(city: City): Weather {
  switch (city) {
    case 'New York':
      return { temperature: 33, conditions: 'Cloudy', humidity: 82 };
    case 'Chicago':
      return { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 };
    case 'Los Angeles':
      return { temperature: 73, conditions: 'Sunny / Clear', humidity: 48 };
    default:
      return city satisfies never;
  }
}
