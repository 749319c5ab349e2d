module mexica_ai

go 1.19
