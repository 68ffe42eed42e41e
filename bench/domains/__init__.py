"""What customers' domains cost those who follow links: one that is deleted, and some whose DNS does not answer."""
